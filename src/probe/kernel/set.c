/* SPDX-License-Identifier: MIT */
/* set.c - sets the probes of a recording in the kernel: the kernel's and modules' types, and its answers. */
#include "kernel_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <bpf/libbpf.h>

#include <base/scope.h>
#include <proc/kallsyms.h>

/* The kernel's types, and those of the module that was needed last. */
struct types {
	struct btf *kernel, *module;
	char module_name[64];
};

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static void types_open(struct types *t)
{
	libbpf_set_print(say_nothing);
	memset(t, 0, sizeof(*t));
	t->kernel = btf__load_vmlinux_btf();
	if (libbpf_get_error(t->kernel))
		t->kernel = NULL;
}

static void types_close(struct types *t)
{
	btf__free(t->module);
	btf__free(t->kernel);
}

/* --------------------------------------------------------------- functions */

/* The function's module, "": the kernel itself. near: collects similar names, NULL: not wanted. -ENOENT: not
 * found. If the list cannot be read, assumes the kernel. */
static int find_function(const char *function, char *module, size_t size, struct hodo_near *near)
{
	HODO_AUTO(hodo_kallsyms_close) struct hodo_kallsyms all;
	struct hodo_kallsym symbol;
	bool found = hodo_kallsyms_open(&all) < 0;

	*module = '\0';
	while (!found && hodo_kallsyms_next(&all, &symbol)) {
		found = strcmp(symbol.name, function) == 0;
		if (found)
			snprintf(module, size, "%s", symbol.module);
		else if (near)
			hodo_near_look(near, symbol.name);
	}
	return found ? 0 : -ENOENT;
}

/* The types of the function's module. NULL: not available. */
static const struct btf *module_types(struct types *t, const char *module)
{
	if (strcmp(module, t->module_name) != 0) {
		btf__free(t->module);
		t->module = btf__load_module_btf(module, t->kernel);
		if (libbpf_get_error(t->module))
			t->module = NULL;
		snprintf(t->module_name, sizeof(t->module_name), "%s", module);
	}
	return t->module;
}

/* ----------------------------------------------------------------- answers */

static int refused(const struct hodo_kprobe_text *p, int err, struct hodo_why *why)
{
	switch (-err) {
	case ENOENT:
		return hodo_why(why, err, "%s: the kernel has no function %s", p->event, p->spec.name);
	case EINVAL:
		return hodo_why(why, err, "%s: the kernel forbids probes there (the kprobe blacklist, or code that "
				"it changes itself): probe a caller, or a function that it calls", p->event);
	case EILSEQ:
	case ERANGE:
		return hodo_why(why, err, "%s: no instruction of %s begins there: look at its disassembly", p->event,
				p->spec.name);
	case EOPNOTSUPP:
		return hodo_why(why, err, "%s: this kernel was built without CONFIG_KPROBES", p->event);
	case EPERM:
		return hodo_why(why, err, "%s: the kernel is locked down (confidentiality), which forbids probes",
				p->event);
	case EEXIST:
		return hodo_why(why, err, "%s: another recorder of the kernel has this probe: wait until it ends",
				p->event);
	case ENODATA:
	case ENOTTY:
	case EBADMSG:
		return hodo_why(why, err, "the loaded kernel module hodo is another version than this hodo: load the "
				"one that came with it");
	}
	return hodo_why(why, err, "%s cannot be set: %s", p->event, strerror(-err));
}

static int set(const struct hodo_kprobe_text *p, struct types *types, int fd, struct hodo_kprobe *k,
	       struct hodo_why *why)
{
	struct hodo_near near = { .wanted = p->spec.name };
	const struct btf *btf = types->kernel;
	char module[sizeof(types->module_name)];
	int err;

	if (!hodo_kprobe_prototype(btf, p->spec.name)) {
		/* Search for similar names only if that helps: there are two hundred thousand. */
		if (find_function(p->spec.name, module, sizeof(module), NULL) < 0 &&
		    find_function(p->spec.name, module, sizeof(module), &near) < 0)
			return hodo_why(why, -ENOENT, "%s: the kernel has no function %s%s", p->event, p->spec.name,
					hodo_near_text(&near));
		if (btf && *module)
			btf = module_types(types, module);
	}
	err = hodo_kprobe_compile(p, btf, k, why);
	if (!err && ioctl(fd, HODO_IOC_KPROBE, k) < 0)
		err = refused(p, -errno, why);
	return err;
}

int hodo_kprobe_list_set(const struct hodo_kprobe_list *list, int fd, struct hodo_why *why)
{
	struct hodo_kprobe *k = list->n ? malloc(HODO_KPROBE_SIZE_MAX) : NULL;
	struct types types;
	int err = 0;

	if (list->n == 0)
		return 0;
	if (!k)
		return hodo_why(why, -ENOMEM, "out of memory");
	types_open(&types);
	for (uint32_t i = 0; i < list->n && !err; i++)
		err = set(&list->probe[i], &types, fd, k, why);
	types_close(&types);
	free(k);
	return err;
}
