// SPDX-License-Identifier: MIT
// otlp_judge.mjs MODULES FILE OUT - has OpenTelemetry's own serializers write what FILE, an export --to otlp, says:
// OUT.traces.json, OUT.traces.bin, OUT.metrics.json, OUT.metrics.bin.
import fs from 'node:fs'
import { createRequire } from 'node:module'

const [modules, file, out] = process.argv.slice(2)
const otlp = createRequire(modules + '/x.js')('@opentelemetry/otlp-transformer')

const time = text => [Number(BigInt(text) / 1000000000n), Number(BigInt(text) % 1000000000n)]
function value(v) {
  if ('stringValue' in v) return v.stringValue
  if ('intValue' in v) return Number(v.intValue)
  if ('doubleValue' in v) return v.doubleValue
  if ('boolValue' in v) return v.boolValue
  if ('bytesValue' in v) return new Uint8Array(Buffer.from(v.bytesValue, 'base64'))
  if ('arrayValue' in v) return (v.arrayValue.values ?? []).map(value)
  return undefined
}
const attributes = list => Object.fromEntries((list ?? []).map(a => [a.key, value(a.value)]))

function span(s, resource, scope) {
  const remote = Boolean(s.flags & 0x200)
  return {
    name: s.name,
    kind: s.kind - 1,
    spanContext: () => ({ traceId: s.traceId, spanId: s.spanId, traceFlags: s.flags & 0xff }),
    parentSpanContext: s.parentSpanId && { traceId: s.traceId, spanId: s.parentSpanId, isRemote: remote },
    startTime: time(s.startTimeUnixNano),
    endTime: time(s.endTimeUnixNano),
    status: { code: 0 },
    attributes: attributes(s.attributes),
    links: [],
    events: (s.events ?? []).map(e => ({
      name: e.name, time: time(e.timeUnixNano), attributes: attributes(e.attributes),
      droppedAttributesCount: e.droppedAttributesCount ?? 0,
    })),
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: s.droppedAttributesCount ?? 0,
    droppedEventsCount: s.droppedEventsCount ?? 0,
    droppedLinksCount: 0,
  }
}

function metric(m) {
  const points = m.gauge.dataPoints
  const whole = 'asInt' in points[0]
  return {
    descriptor: { name: m.name, description: '', unit: '', valueType: whole ? 0 : 1 },
    dataPointType: 2, // a gauge
    dataPoints: points.map(p => ({ startTime: [0, 0], endTime: time(p.timeUnixNano), attributes: {},
      value: whole ? Number(p.asInt) : p.asDouble })),
  }
}

const resourceOf = r => ({ attributes: attributes(r.resource.attributes) })
for (const line of fs.readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
  const message = JSON.parse(line)
  if (message.resourceSpans) {
    const spans = message.resourceSpans.flatMap(r => {
      const resource = resourceOf(r)
      return r.scopeSpans.flatMap(s => s.spans.map(one => span(one, resource, s.scope)))
    })
    fs.writeFileSync(out + '.traces.json', otlp.JsonTraceSerializer.serializeRequest(spans))
    fs.writeFileSync(out + '.traces.bin', otlp.ProtobufTraceSerializer.serializeRequest(spans))
  } else {
    const [r] = message.resourceMetrics
    const metrics = { resource: resourceOf(r),
      scopeMetrics: r.scopeMetrics.map(s => ({ scope: s.scope, metrics: s.metrics.map(metric) })) }
    fs.writeFileSync(out + '.metrics.json', otlp.JsonMetricsSerializer.serializeRequest(metrics))
    fs.writeFileSync(out + '.metrics.bin', otlp.ProtobufMetricsSerializer.serializeRequest(metrics))
  }
}
