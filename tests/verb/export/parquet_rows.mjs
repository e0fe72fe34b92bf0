// SPDX-License-Identifier: MIT
// parquet_rows.mjs NODE_MODULES FILE... - prints the rows of Parquet files as hyparquet reads them, one JSON object a
// line: {"file":…,"metadata":{…},"row":{…}}. What JSON cannot express is {"$n":"123"}, {"$b":"hex"}, {"$f":"NaN"}.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [modules, ...files] = process.argv.slice(2);
const { parquetMetadata, parquetReadObjects } = await import(pathToFileURL(`${modules}/hyparquet/src/index.js`));
const { compressors } = await import(pathToFileURL(`${modules}/hyparquet-compressors/src/index.js`));

function plain(value) {
	if (typeof value === 'bigint')
		return { $n: String(value) };
	if (typeof value === 'number' && !Number.isFinite(value))
		return { $f: String(value) };
	if (value instanceof Uint8Array)
		return { $b: Buffer.from(value).toString('hex') };
	if (Array.isArray(value) || ArrayBuffer.isView(value))
		return Array.from(value, plain);
	if (value && typeof value === 'object')
		return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, plain(of)]));
	return value === undefined ? null : value;
}

for (const name of files) {
	const bytes = readFileSync(name);
	const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
	const pairs = parquetMetadata(file).key_value_metadata ?? [];
	const metadata = Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
	for (const row of await parquetReadObjects({ file, compressors, utf8: false }))
		process.stdout.write(JSON.stringify({ file: name, metadata, row: plain(row) }) + '\n');
}
