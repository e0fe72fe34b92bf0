// SPDX-License-Identifier: MIT
// format.js - times, counts and clocks as text.

const UNITS = [[1, 'ns'], [1e3, 'µs'], [1e6, 'ms'], [1e9, 's']];

function unitFor(ns) {
	return UNITS.findLast(([unit]) => Math.abs(ns) >= unit * 0.9999995) ?? UNITS[0];
}

/* 1234567 -> "1.235 ms": four digits that count. */
export function duration(ns) {
	if (!Number.isFinite(ns))
		return '–';
	if (Math.abs(ns) >= 120e9) {
		const s = ns / 1e9;
		const hours = Math.floor(s / 3600);
		const minutes = Math.floor(s / 60) % 60;
		const rest = (s % 60).toFixed(hours ? 0 : 2);
		return hours ? `${hours} h ${minutes} min ${rest} s` : `${minutes} min ${rest} s`;
	}
	const [unit, name] = unitFor(ns);
	const value = ns / unit;
	if (unit === 1)
		return `${+value.toFixed(1)} ns`;
	const size = Math.abs(value);
	return `${value.toFixed(size >= 99.95 ? 1 : size >= 9.995 ? 2 : 3)} ${name}`;
}

/* All digits: "1.234567 ms" for the details. */
export function exactDuration(ns) {
	const [unit, name] = unitFor(ns);
	return `${(ns / unit).toFixed(String(unit).length - 1)} ${name}`;
}

export function count(n) {
	return Math.round(n).toLocaleString('en-US').replaceAll(',', '\u202f');
}

export function plural(n, one, many) {
	return `${count(n)} ${n === 1 ? one : many ?? `${one}s`}`;
}

/* A number of a counter. */
export function number(value) {
	if (!Number.isFinite(value))
		return String(value);
	if (Number.isInteger(value) && Math.abs(value) < 1e15)
		return value.toLocaleString('en-US').replaceAll(',', '\u202f');
	return String(+value.toPrecision(6));
}

/* Ticks of a scale: the least 1, 2 or 5 times a power of ten that is at least this many ns. */
export function niceStep(ns) {
	const power = 10 ** Math.floor(Math.log10(Math.max(ns, 1e-3)));
	for (const factor of [1, 2, 5])
		if (power * factor >= ns * 0.999999)
			return Math.max(power * factor, 1);
	return Math.max(power * 10, 1);
}

/* ns from the start as "+1.25 ms", with as many digits as the step between ticks needs. */
export function relative(ns, step) {
	const [unit, name] = unitFor(Math.max(Math.abs(ns), step));
	const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
	return `${ns < 0 ? '−' : ''}${Math.abs(ns / unit).toFixed(digits)} ${name}`;
}

function two(n) {
	return String(n).padStart(2, '0');
}

/* Local time of day of ns after beginNs (BigInt since the epoch): "14:03:22.123456". */
export function clock(beginNs, ns, digits = 9) {
	const at = beginNs + BigInt(Math.floor(ns));
	const date = new Date(Number(at / 1000000n));
	const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
	return `${time}.${String(at % 1000000000n).padStart(9, '0').slice(0, digits)}`;
}

export function day(beginNs, ns = 0) {
	const date = new Date(Number((beginNs + BigInt(Math.floor(ns))) / 1000000n));
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/* How many digits of a second a clock needs so that steps of this many ns differ. */
export function clockDigits(step) {
	return Math.min(9, Math.max(3, Math.ceil(9 - Math.log10(step) - 1e-9)));
}
