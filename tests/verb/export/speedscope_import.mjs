// SPDX-License-Identifier: MIT
// speedscope_import.mjs BUNDLE FILE [NAME] - has speedscope read a file, as if its name were NAME, and prints as JSON
// what it made of it: the importer's message, and for each profile the total and each frame's times.
//
// speedscope is one script for a browser. It runs here with a browser that does nothing: its importers need none.
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'

const [bundle, file, name] = process.argv.slice(2)
const source = fs.readFileSync(bundle, 'utf8')
const importers = /var (\w+)=Promise\.resolve\(\)\.then\(\(\)=>\(\w+\(\),\w+\)\);(?=\1\.then)/
if (!importers.test(source)) throw new Error(`${bundle}: the importers are not where they were in speedscope 1.25`)

const nothing = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => '' : key === 'length' ? 0 : key === Symbol.iterator
    ? function* () {} : nothing),
  apply: () => nothing,
  construct: () => nothing,
  set: () => true,
})
const said = []
const context = vm.createContext({
  console: { log: text => said.push(String(text)), warn: text => said.push(String(text)),
    error: text => said.push(String(text)), assert: () => {} },
  document: nothing, HTMLElement: class {}, HTMLCanvasElement: class {}, localStorage: nothing, performance,
  TextDecoder, TextEncoder, Uint8Array, ArrayBuffer, DataView, setTimeout, clearTimeout, requestAnimationFrame: () => 0,
  navigator: { platform: '', userAgent: '' }, location: { protocol: 'file:', hash: '', href: 'file:///' },
  atob, btoa, URL, Blob, fetch: () => Promise.reject(new Error('no network')),
})
context.window = context.self = context.globalThis = context
context.addEventListener = context.removeEventListener = () => {}
context.matchMedia = () => ({ matches: false, addEventListener() {}, addListener() {} })
try {
  vm.runInContext(source.replace(importers, (found, promise) => `${found}globalThis.importers=${promise};`), context,
    { filename: path.basename(bundle) })
} catch (error) {
  // The part that draws fails without a browser, but after the importers are there.
  if (!context.importers) throw error
}
const bytes = fs.readFileSync(file)
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
const group = await (await context.importers).importProfilesFromArrayBuffer(name ?? path.basename(file), buffer)
const profiles = group ? group.profiles.map(profile => {
  const frames = []
  profile.forEachFrame(f => frames.push({ name: f.name, file: f.file, line: f.line, self: f.getSelfWeight(),
    total: f.getTotalWeight() }))
  return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), frames }
}) : null
console.log(JSON.stringify({ said, index: group?.indexToView, profiles }))
