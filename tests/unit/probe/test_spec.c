/* SPDX-License-Identifier: MIT */
/* test_spec.c - the text of a probe: its place and its values. */
#include <lib/unit.h>
#include <stdio.h>
#include <string.h>

#include <hodo/abi.h>
#include <probe/text/spec.h>

/* "function|object|name|number: values", each value NAME=BASE steps[:type]. */
static const char *parsed(const char *text)
{
	static const char *const places[] = { "function", "return", "offset", "line", "address" };
	static char said[2048];
	struct hodo_why why = { "" };
	struct hodo_spec s;
	int n, err = hodo_spec_parse(&s, text, &why);

	if (err) {
		assert_int_equal(err, -22);
		assert_true(why.text[0]);
		hodo_spec_free(&s);
		return "error";
	}
	n = snprintf(said, sizeof(said), "%s|%s|%s|%llu", places[s.place], s.object ? s.object : "",
		     s.name ? s.name : "", (unsigned long long)s.number);
	for (uint32_t i = 0; i < s.nvalues; i++) {
		const struct hodo_spec_value *v = &s.values[i];

		n += snprintf(said + n, sizeof(said) - (size_t)n, " %s=%s", v->name, v->expr.name ? v->expr.name : "");
		for (unsigned k = 0; k < v->expr.n; k++) {
			const struct hodo_spec_step *step = &v->expr.step[k];

			if (step->kind == HODO_SPEC_MEMBER)
				n += snprintf(said + n, sizeof(said) - (size_t)n, "->%s", step->member);
			else if (step->kind == HODO_SPEC_ELEMENT)
				n += snprintf(said + n, sizeof(said) - (size_t)n, "[%u]", step->element);
			else
				n += snprintf(said + n, sizeof(said) - (size_t)n,
					      step->kind == HODO_SPEC_DEREF ? "*" : "&");
		}
		if (v->bytes)
			n += snprintf(said + n, sizeof(said) - (size_t)n, ",%s%llu",
				      v->length.name ? v->length.name : "", (unsigned long long)v->length.number);
		if (v->type)
			n += snprintf(said + n, sizeof(said) - (size_t)n, ":%u", v->type);
	}
	if (s.flaw.text[0])
		n += snprintf(said + n, sizeof(said) - (size_t)n, " flaw");
	if (s.whole)
		snprintf(said + n, sizeof(said) - (size_t)n, " or %s", s.whole);
	hodo_spec_free(&s);
	return said;
}

TEST(places)
{
	assert_string_equal(parsed("main"), "function||main|0");
	assert_string_equal(parsed(" libc.so!malloc "), "function|libc.so|malloc|0");
	assert_string_equal(parsed("/lib/x.so!SSL_*"), "function|/lib/x.so|SSL_*|0");
	assert_string_equal(parsed("f%return"), "return||f|0");
	assert_string_equal(parsed("f+0x1F"), "offset||f|31");
	assert_string_equal(parsed("f + 12"), "offset||f|12");
	assert_string_equal(parsed("src/a.c:123"), "line||src/a.c|123");
	assert_string_equal(parsed("x!a.c:7"), "line|x|a.c|7");
	assert_string_equal(parsed("0x401020"), "address|||4198432");
	assert_string_equal(parsed("f.constprop.0"), "function||f.constprop.0|0");
}

TEST(names_of_cxx)
{
	assert_string_equal(parsed("ns::f"), "function||ns::f|0");
	assert_string_equal(parsed("ns::operator+"), "function||ns::operator+|0");
	assert_string_equal(parsed("ns::operator()"), "function||ns::operator()|0");
	assert_string_equal(parsed("ns::operator!=(int)(x)"),
			    "function||ns::operator!=(int)|0 x=x or ns::operator!=(int)(x)");
	assert_string_equal(parsed("a!f(int)"), "function|a|f|0 int=int or f(int)");
	assert_string_equal(parsed("f(char const*, int)"), "function||f|0 flaw or f(char const*, int)");
	assert_string_equal(parsed("f(int)(n)"), "function||f(int)|0 n=n or f(int)(n)");
	assert_string_equal(parsed("f(int)%return"), "return||f(int)|0");
	assert_string_equal(parsed("f(int)%return($retval)"), "return||f(int)|0 retval=$retval");
	assert_string_equal(parsed("~thing"), "function||~thing|0");
	assert_true(hodo_spec_is_glob("SSL_*"));
	assert_true(hodo_spec_is_glob("a*::operator*"));
	assert_false(hodo_spec_is_glob("cls::operator*"));
	assert_false(hodo_spec_is_glob("cls::operator[]"));
}

TEST(values)
{
	assert_string_equal(parsed("a.c:1()"), "line||a.c|1");
	assert_string_equal(parsed("a.c:1(key, len)"), "line||a.c|1 key=key len=len");
	assert_string_equal(parsed("a.c:1(node->next->name)"), "line||a.c|1 name=node->next->name");
	assert_string_equal(parsed("a.c:1(s.a[3].b, x[0x10])"), "line||a.c|1 b=s->a[3]->b x=x[16]");
	assert_string_equal(parsed("a.c:1(*p, &x, **q, *p->n, (*p)->n, (*p)[1])"),
			    "line||a.c|1 p=p* x=x& q=q** n=p->n* n=p*->n p=p*[1]");
	assert_string_equal(parsed("a.c:1($arg1, $retval, %rdi, %ah)"),
			    "line||a.c|1 arg1=$arg1 retval=$retval rdi=%rdi ah=%ah");
	assert_string_equal(parsed("a.c:1(k=key, n = a.b)"), "line||a.c|1 k=key n=a->b");
	assert_string_equal(parsed("a.c:1((buf, len), part=(buf, 16), (s.p, *n))"),
			    "line||a.c|1 buf=buf,len0 part=buf,16 p=s->p,n0");
	assert_string_equal(parsed("a.c:1(p:str, n : u16)"), "line||a.c|1 p=p:14 n=n:4");
	assert_string_equal(parsed("a.c:1(ns::total, this->x)"), "line||a.c|1 total=ns::total x=this->x");
	assert_string_equal(parsed("a.c:1($args, $locals)"), "line||a.c|1 args=$args locals=$locals");
}

TEST(what_is_none)
{
	static const char *const wrong[] = {
		"", "!", "a!", "!f", "%return", "f%exit", "f%", "0xyz", "0x", "0x10000000000000000", "(a)", "f)",
		"a.c:1(", "a.c:1(a", "a.c:1(,)", "a.c:1(a,)", "a.c:1(a b)", "a.c:1(a->)", "a.c:1(a[x])", "a.c:1(a[-1])",
		"a.c:1(a[1)", "a.c:1(5)", "a.c:1($x)", "a.c:1($arg0)", "a.c:1($arg100)", "a.c:1($duration)",
		"a.c:1($stack1)", "a.c:1(a:text)", "a.c:1(%)",
		"a.c:1((a,b)", "a.c:1((a,b):u8)", "a.c:1($args:u8,$args->x)", "a.c:1(x=$args)", "a.c:1(a[99999999999])",
		"f(int", "f+0x10(a(b))",
	};
	struct hodo_why why;
	char longest[2 * HODO_SPEC_TEXT_MAX];
	struct hodo_spec s;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (strcmp(parsed(wrong[i]), "error") != 0)
			fail_msg("'%s' is taken for %s", wrong[i], parsed(wrong[i]));
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	assert_int_equal(hodo_spec_parse(&s, longest, &why), -22);
	hodo_spec_free(&s);
}

/* Each bound is exact: what reaches it is accepted, what exceeds it is refused. */
TEST(bounds)
{
	char text[6000] = "a.c:1(a";

	for (unsigned i = 0; i < HODO_SPEC_STEPS_MAX; i++)
		strcat(text, "->b");
	strcat(text, ")");
	assert_string_not_equal(parsed(text), "error");
	strcpy(text + strlen(text) - 1, "->b)");
	assert_string_equal(parsed(text), "error");
	strcpy(text, "a.c:1(a0");
	for (unsigned i = 1; i < HODO_SPEC_VALUES_MAX; i++)
		sprintf(text + strlen(text), ",a%u", i);
	strcat(text, ")");
	assert_string_not_equal(parsed(text), "error");
	strcpy(text + strlen(text) - 1, ",b)");
	assert_string_equal(parsed(text), "error");
	strcpy(text, "a.c:1(");
	for (unsigned i = 0; i < 1000; i++)
		strcat(text, "(");
	strcat(text, "a");
	for (unsigned i = 0; i < 1000; i++)
		strcat(text, ")");
	strcat(text, ")");
	assert_string_equal(parsed(text), "error");
}

TEST(objects)
{
	struct hodo_spec s = { .object = "libz.so" };

	assert_true(hodo_spec_is_of(&s, "/opt/other-9", "libz.so.1"));
	assert_false(hodo_spec_is_of(&s, "/opt/other-9", "libzstd.so.1"));
	s.object = NULL;
	assert_true(hodo_spec_is_of(&s, "anything", ""));
}
