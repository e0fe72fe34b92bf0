// SPDX-License-Identifier: MIT
// workload_cxx.cc - see workload.h: libstdc++'s own code, and exceptions that pass through it.
#include "workload.h"

#include <algorithm>
#include <iomanip>
#include <locale>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct thrower : std::streambuf {
	int left = 3;
	int overflow(int) override
	{
		if (left-- <= 0)
			throw std::runtime_error("full");
		return 0;
	}
};

uint64_t throws(uint64_t sum)
{
	for (int i = 0; i < 50; i++) {
		try {
			thrower to;
			std::ostream out(&to);

			out.exceptions(std::ios::badbit | std::ios::failbit);
			out << "some text " << i;
		} catch (const std::exception &e) {
			sum = workload_add(sum, e.what(), 4);
		}
		try {
			sum += std::string("abc").at(static_cast<size_t>(i));
			sum += static_cast<uint64_t>(std::stoi(i & 1 ? "12" : "x"));
			sum += std::vector<int>().at(5);
		} catch (const std::out_of_range &) {
			sum += 3;
		} catch (const std::logic_error &) {
			sum += 5;
		}
	}
	return sum;
}

} // namespace

uint64_t workload_cxx(void)
{
	std::map<std::string, int> words;
	std::ostringstream out;
	uint64_t sum = throws(1);

	out.imbue(std::locale::classic());
	for (int i = 0; i < 500; i++) {
		std::istringstream in("7 8.25 word " + std::to_string(i * 7919 % 500));
		std::string word;
		double d;
		int n;

		in >> n >> d >> word;
		std::getline(in, word);
		words[word] += n;
		out << std::setw(12) << std::hex << i << std::fixed << d * i << word << std::boolalpha << (i > 3);
		out << '\n';
	}
	for (const auto &w : words)
		out << w.first << '=' << w.second;
	std::string all = out.str();
	all.insert(17, "inserted").replace(3, 9, "x").append(all.substr(100, 50));
	std::sort(all.begin(), all.begin() + 500);
	auto shared = std::make_shared<std::string>(all);
	return workload_add(sum, shared->data(), shared->size());
}
