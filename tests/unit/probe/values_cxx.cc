/* SPDX-License-Identifier: MIT */
/* values_cxx.cc - C++ for test_values.c; see values.h. */
#include "values.h"

namespace room {

enum class kind : unsigned char { none, some = 200 };

struct base {
	int base_value;
	virtual long total(int more) const;
	virtual ~base();
};

struct other {
	short other_value;
};

class cache : public base, public other {
public:
	static int made;
	explicit cache(int size) : size_(size), name_("a cache")
	{
		base_value = size * 2;
		other_value = -7;
		KEEP(this);
	}
	long total(int more) const override;
	APART int get(const int &key, kind k);

private:
	int size_;
	const char *name_;
};

int cache::made = 17;

APART base::~base()
{
	KEEP(this);
}

APART long base::total(int more) const
{
	KEEP(this);
	return base_value + more;
}

APART long cache::total(int more) const
{
	KEEP(this);
	return size_ + more;
}

APART int cache::get(const int &key, kind k)
{
	KEEP(k);
	return size_ + key;
}

/* An object that C++ copies by a copy constructor is passed by its address. */
struct owned {
	int value;
	owned(int v) : value(v) {}
	owned(const owned &o) : value(o.value) {}
	APART ~owned() { KEEP(this); }
};

APART int take(owned o, int behind)
{
	KEEP(behind);
	return o.value;
}

APART owned give(int v)
{
	KEEP(v);
	return owned(v);
}

APART int twice(int n)
{
	KEEP(n);
	return n * 2;
}

APART double twice(double n)
{
	KEEP(n);
	return n * 2;
}

template <typename T> struct holder {
	T held;
	APART T show(T extra) const
	{
		KEEP(this);
		return held + extra;
	}
};

APART bool operator<(const owned &a, const owned &b)
{
	KEEP(&a);
	return a.value < b.value;
}

}

using namespace room;

APART static int references(int &&moved, cache *&pointer, bool truth)
{
	KEEP(truth);
	KEEP(&pointer);
	return moved;
}

int main()
{
	cache c(40);
	cache *pointer = &c;
	KEEP(&pointer);
	int key = 3;
	holder<long> h = { 1000 };
	owned a(5), b(6);

	EXPECT("room::cache::get(key, k, size_, name_, this->base_value, other_value)",
	       "key=%d k=%d size_=%d name_=\"%s\" base_value=%d other_value=%d", key, 200, 40, "a cache", 80, -7);
	EXPECT("room::cache::get(int const&, room::kind)(x=*this->name_, $arg2)", "x=%d arg2=%d", 'a', key);
	EXPECT("room::cache::get%return", "retval=%d", 43);
	c.get(key, kind::some);
	EXPECT("room::cache::tot*(more, this->size_)", "more=%d size_=%d", 2, 40);
	pointer->total(2);
	EXPECT("room::twice(int)", "%s", "");
	EXPECT("room::twice(int)(n)", "n=%d", 21);
	twice(21);
	EXPECT("room::twice(double)(n)", "n=%g", 2.5);
	EXPECT("room::twice(double)%return", "retval=%g", 5.0);
	twice(2.5);
	EXPECT("room::holder<long>::show(extra, held)", "extra=%d held=%d", 4, 1000);
	h.show(4);
	EXPECT("room::operator<(a.value, b.value)", "value=%d value_2=%d", 5, 6);
	KEEP(a < b);
	EXPECT("references(moved, pointer->size_, truth, cache::made)", "moved=%d size_=%d truth=%d made=%d", 8, 40, 1, 17);
	references(8, pointer, true);
	EXPECT("room::take(o.value, behind)", "value=%d behind=%d", 5, 9);
	take(a, 9);
	EXPECT("room::give(v)", "v=%d", 12);
	EXPECT("room::give%return($retval.value)", "value=%d", 12);
	give(12);
	return 0;
}
