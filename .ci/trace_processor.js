// Runs SQL on a trace with Perfetto's own trace processor, offline.
//
//   node trace_processor.js DIST TRACE SQL...
//
// DIST is the folder of a Perfetto UI that holds engine_bundle.js and trace_processor.wasm. For each SQL statement
// one line of JSON: an array of rows. The engine is made for a browser's worker; what it needs of that is imitated
// here, and it is spoken to as the UI does (protos/perfetto/trace_processor/trace_processor.proto).
"use strict";
const fs = require("fs");
const path = require("path");

const [dist, traceFile, ...statements] = process.argv.slice(2);
const here = name => path.join(dist, path.basename(name));

globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
// A file: address would make it refuse.
globalThis.location = { href: "http://localhost/engine_bundle.js", pathname: "/engine_bundle.js" };
globalThis.importScripts = () => {};
globalThis.fetch = async url => {
  const bytes = fs.readFileSync(here(String(url)));
  return new Response(bytes, { headers: { "content-type": "application/wasm" } });
};
globalThis.XMLHttpRequest = class {
  open(method, url) { this.url = url; }
  send() {
    const bytes = fs.readFileSync(here(this.url));
    this.status = 200;
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
};
console.warn = () => {};

// Protobuf, as far as needed.
const varint = n => {
  const out = [];
  for (; n >= 128; n = Math.floor(n / 128)) out.push((n % 128) | 128);
  return Buffer.from([...out, n]);
};
const number = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const bytes = (field, b) => Buffer.concat([varint(field * 8 + 2), varint(b.length), Buffer.from(b)]);
function* fields(buffer) {
  let at = 0;
  const next = () => {
    let value = 0n, shift = 0n;
    for (;;) {
      const b = buffer[at++];
      value |= BigInt(b & 127) << shift;
      if (b < 128) return value;
      shift += 7n;
    }
  };
  while (at < buffer.length) {
    const tag = Number(next());
    if (tag % 8 === 0) yield [tag >> 3, next()];
    else if (tag % 8 === 1) { at += 8; yield [tag >> 3, buffer.subarray(at - 8, at)]; }
    else if (tag % 8 === 5) { at += 4; yield [tag >> 3, buffer.subarray(at - 4, at)]; }
    else { const len = Number(next()); at += len; yield [tag >> 3, buffer.subarray(at - len, at)]; }
  }
}
const varints = buffer => {
  const out = [];
  let value = 0n, shift = 0n;
  for (const b of buffer) {
    value |= BigInt(b & 127) << shift;
    shift += 7n;
    if (b < 128) { out.push(Number(BigInt.asIntN(64, value))); value = 0n; shift = 0n; }
  }
  return out;
};

const TYPE_APPEND = 1, TYPE_FINALISE = 2, TYPE_QUERY = 3;
let sequence = 0;
const request = (type, ...rest) =>
  bytes(1, Buffer.concat([number(1, ++sequence), number(2, type), ...rest]));

// A query's answer may come in several messages.
function rows(results) {
  const names = [], cells = [];
  let error = "";
  for (const result of results) {
    for (const [field, value] of fields(result)) {
      if (field === 1) names.push(Buffer.from(value).toString());
      if (field === 2) error = Buffer.from(value).toString();
      if (field !== 3) continue;
      let types = [], ints = [], doubles = [], strings = [];
      for (const [part, data] of fields(value)) {
        if (part === 1) types = types.concat(varints(data));
        if (part === 2) ints = ints.concat(varints(data));
        if (part === 3) for (let i = 0; i + 8 <= data.length; i += 8) doubles.push(Buffer.from(data).readDoubleLE(i));
        if (part === 5) strings = Buffer.from(data).toString().split("\0");
      }
      for (const type of types) {
        if (type === 2) cells.push(ints.shift());
        else if (type === 3) cells.push(doubles.shift());
        else if (type === 4) cells.push(strings.shift());
        else cells.push(null);
      }
    }
  }
  if (error) throw new Error(error);
  const table = [];
  while (names.length && cells.length) table.push(cells.splice(0, names.length));
  return table;
}

async function main() {
  const { port1, port2 } = new MessageChannel();
  let pending = Buffer.alloc(0);
  const waiting = new Map();
  port1.onmessage = ({ data }) => {
    pending = Buffer.concat([pending, Buffer.from(data)]);
    for (const [, message] of fields(pending)) {
      let type = 0, result = null;
      for (const [field, value] of fields(message)) {
        if (field === 2 || field === 3) type = type || Number(value);
        if (field === 203) result = value;
      }
      const last = result === null || isLast(result);
      const [first] = waiting.values();
      if (!first) continue;
      if (result) first.results.push(Buffer.from(result));
      if (last) { waiting.delete(first.key); first.resolve(first.results); }
    }
    pending = Buffer.alloc(0);
  };
  const isLast = result => {
    for (const [field, value] of fields(result)) {
      if (field === 2) return true;
      if (field === 3) for (const [part, flag] of fields(value)) if (part === 6 && flag) return true;
    }
    return false;
  };
  const ask = message => new Promise(resolve => {
    const key = sequence;
    waiting.set(key, { key, resolve, results: [] });
    port1.postMessage(new Uint8Array(message));
  });

  // The engine takes a program with a `process` for Node itself and would load files its own way.
  const code = fs.readFileSync(here("engine_bundle.js"), "utf8");
  new Function("process", "require", "module", "exports", code)(undefined, undefined, undefined, undefined);
  globalThis.onmessage({ data: port2 });

  const trace = fs.readFileSync(traceFile);
  for (let at = 0; at < trace.length; at += 1 << 24) {
    await ask(request(TYPE_APPEND, bytes(101, trace.subarray(at, at + (1 << 24)))));
  }
  await ask(request(TYPE_FINALISE));
  for (const sql of statements) {
    const results = await ask(request(TYPE_QUERY, bytes(103, bytes(1, Buffer.from(sql)))));
    console.log(JSON.stringify(rows(results)));
  }
  process.exit(0);
}

main().catch(error => {
  console.error(`trace processor: ${error.stack || error}`);
  process.exit(1);
});
