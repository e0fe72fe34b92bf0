/* SPDX-License-Identifier: MIT */
/* values.cc - an event of each type that docs/cxx.md names; values.py knows their contents. */
#include <hodo/trace.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

static unsigned long allocations;

__attribute__((noinline)) void *operator new(size_t n)
{
	allocations++;
	return malloc(n ? n : 1);
}
__attribute__((noinline)) void operator delete(void *p) noexcept { free(p); }
__attribute__((noinline)) void operator delete(void *p, size_t) noexcept { free(p); }

namespace app
{
enum class Op : int { Get, Put = 7, Drop = -3, Rare = 1 << 20, Far = 5000 };
enum class Flag : unsigned char { On = 1, Off = 100 };
enum Plain { First, Second };
enum class Wide : long { Low = 900, High = 950 };
enum class Letter : char { A = 1, B = 'b' };
enum class Bare {};

struct Money {
	long cents;
	std::string currency;
};
struct Id {
	std::string text;
};
template <class T> struct Box {
	T item;
};
struct Limits {
	static const int MOST = 17; /* has no definition */
};
template <class T> struct Shape {
	enum class Kind { Round, Square };
	Kind kind;
};
}

HODO_VALUE(app::Money, m, m.cents);
HODO_VALUE(app::Id, id, "id:" + id.text);
HODO_ENUM_RANGE(app::Wide, 890, 960);
template <class T> struct hodo_value<app::Box<T>> {
	static const T &of(const app::Box<T> &box) { return box.item; }
};

HODO_TRACEPOINT(cxx, point, (const std::string &, key), (int, n), (app::Op, op), (std::optional<int>, maybe),
		(std::chrono::milliseconds, wait), (const app::Money &, price));

static std::string probed;

static void probe(void *, const std::string &key, int n, app::Op op, std::optional<int> maybe,
		  std::chrono::milliseconds wait, const app::Money &price)
{
	probed = key + std::to_string(n) + std::to_string((int)op) + std::to_string(maybe.value_or(-1)) +
		 std::to_string(wait.count()) + price.currency;
}

using namespace std::chrono_literals;

static void texts()
{
	std::string s = "hello", empty, nul("a\0b", 3);
	std::string_view view(s.data() + 1, 3), none;
	std::filesystem::path path = "/var/log";
	char buffer[8] = "abc";
	const char full[3] = { 'x', 'y', 'z' };
	const char *c = "c text";

	HODO_EVENT(cxx, texts, s, empty, nul, view, none, path, buffer, full, c, "literal", HODO_F(sum, s + "!" + c));
}

static void times()
{
	std::chrono::nanoseconds ns(5);
	std::chrono::microseconds took_us(6);
	std::chrono::duration<double> exact(1.5);
	std::chrono::duration<int, std::ratio<1, 60>> frames(3);
	std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds> at(1700000000s);
	std::optional<std::chrono::milliseconds> limit(250);

	HODO_EVENT(cxx, times, ns, took_us, HODO_F(wait, 7ms), std::chrono::seconds(8), HODO_F(m, 9min), HODO_F(d, 10h),
		   exact, frames, at, limit);
	HODO_COUNTER(cxx, latency, 11ms);
}

static void arrays()
{
	int plain[3] = { 1, -2, 3 };
	std::array<short, 2> array = { 4, 5 };
	std::vector<double> vector = { 0.5, 2.5 };
	std::vector<bool *> pointers = { nullptr };
	std::array<bool, 2> bools = { true, false };
	std::vector<app::Op> ops = { app::Op::Put };
	std::array<unsigned char, 2> bytes = { 0, 255 };
	std::vector<int> empty;
	wchar_t wide[2] = { L'w', 0 };

	HODO_EVENT(cxx, arrays, plain, array, vector, pointers, bools, ops, bytes, empty, wide);
#if __cplusplus >= 202002L
	std::span<const int> span(plain, 2);
	std::u8string u8 = u8"\u00e9";
	HODO_EVENT(cxx, arrays20, span, u8);
#endif
}

static void optionals()
{
	std::optional<int> five = 5, none;
	std::optional<std::string> text = "t", no_text;
	std::optional<std::string_view> view = "v";
	std::optional<app::Op> op = app::Op::Put;
	std::optional<std::vector<int>> list = std::vector<int>{ 1 }, no_list;
	std::optional<int *> no_pointer;
	std::optional<app::Money> price = app::Money{ 3, "x" };

	HODO_EVENT(cxx, optionals, five, none, text, no_text, view, op, list, no_list, no_pointer, price);
}

static void enums()
{
	app::Op op = app::Op::Put;
	std::atomic<app::Flag> flag = app::Flag::Off;
	app::Shape<int> shape = { app::Shape<int>::Kind::Square };

	HODO_EVENT(cxx, enums, op, flag, HODO_F(drop, app::Op::Drop), HODO_F(rare, app::Op::Rare),
		   HODO_F(other, (app::Op)5), HODO_F(far, app::Op::Far), HODO_F(wide, app::Wide::High),
		   HODO_F(letter, app::Letter::B),
		   HODO_F(plain, app::Second), HODO_F(bare, app::Bare{}), shape.kind);
	/* The same field of another event has other labels. */
	HODO_EVENT(cxx, others, HODO_F(op, app::Flag::On));
}

static void others()
{
	std::atomic<int> atomic = 12;
	std::atomic<bool> ready = true;
	std::atomic<double> load = 0.25;
	std::unique_ptr<int> unique(new int(1)), gone;
	std::shared_ptr<char> shared;
	std::error_code error = std::make_error_code(std::errc::timed_out);
	long double wide = 1.25L;
	__int128 big = ((__int128)3 << 64) + 4, minus = -1;
	app::Money price = { 250, "eur" };
	app::Id id = { "k" };
	app::Box<std::string> box = { "boxed" };
	void *address = unique.get();
	volatile int vol = 4;
	struct {
		unsigned bits : 3;
	} packed = { 6 };

	HODO_EVENT(cxx, others2, atomic, ready, load, unique, address, gone, shared, error, wide, big, minus, price,
		   id, box, vol);
	HODO_EVENT(cxx, others3, packed.bits, HODO_F(most, app::Limits::MOST), nullptr, HODO_F(code, (void *)texts),
		   texts);
}

static void kinds()
{
	std::string s = "spanned";
	app::Money price = { 7, "" };

	HODO_SPAN(cxx, span, s, HODO_F(op, app::Op::Get));
	HODO_BEGIN(cxx, request, s, HODO_F(after, 3us));
	HODO_END(cxx, request, s);
	HODO_MARK(cxx, mark, "%s %ld %d", s, price, 3);
}

static void points()
{
	app::Money price = { 5, "usd" };

	trace_cxx_point("key", 1, app::Op::Put, 4, 20ms, price);
	if (register_trace_cxx_point(probe, nullptr) == 0)
		trace_cxx_point("a key that is longer than what a string holds in itself", 2, app::Op::Get, std::nullopt, 21ms,
				price);
	unregister_trace_cxx_point(probe, nullptr);
	HODO_EVENT(cxx, probed, probed);
}

/* Longer than an event may be: libhodo counts it, and the program does not notice. */
static void too_long()
{
	std::string text(70000, 'x');
	std::vector<long> list(1 << 20);

	HODO_EVENT(cxx, too_long, text);
	HODO_EVENT(cxx, too_many, list);
	text.resize(65535);
	HODO_EVENT(cxx, long_enough, text);
}

/* No event allocates. */
static unsigned long allocated()
{
	std::string s = "a text that is longer than what a string holds in itself";
	std::optional<std::string> maybe = s;
	std::vector<int> list = { 1, 2 };
	std::filesystem::path path = s;
	app::Op op = app::Op::Get;
	app::Box<std::string> box = { s };
	app::Money price = { 1, s };
	const unsigned long before = allocations;

	HODO_EVENT(cxx, free, s, maybe, list, path, op, box);
	HODO_SPAN(cxx, free_span, s, op);
	trace_cxx_point(s, 3, op, 1, 2ms, price);
	return allocations - before;
}

int main()
{
	texts();
	times();
	arrays();
	optionals();
	enums();
	others();
	kinds();
	points();
	unsigned long n = allocated();
	HODO_COUNTER(cxx, allocations, n);
	too_long();
	return 0;
}
