// Unpacks the data of the page: base64, gzip, JSON with its length before it, then columns of numbers.
import type { Content, TimelineHead } from "./content.ts";

/** The columns of a timeline by name. */
export type Columns = Map<string, Float64Array>;

export interface Unpacked {
  content: Content;
  columns: Columns[];
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (native.fromBase64) {
    return native.fromBase64(text);
  }
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}

export async function unpack(base64: string): Promise<Unpacked> {
  const stream = new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return parse(new Uint8Array(await new Response(stream).arrayBuffer()));
}

export function parse(all: Uint8Array): Unpacked {
  const length = new DataView(all.buffer, all.byteOffset).getUint32(0, true);
  const json = new TextDecoder().decode(all.subarray(4, 4 + length));
  const content = JSON.parse(json) as Content;
  let at = 4 + length;
  const columns = content.timelines.map((head: TimelineHead) => {
    const of: Columns = new Map();
    for (const { name, count, bytes } of head.columns) {
      of.set(name, numbers(all.subarray(at, at + bytes), count));
      at += bytes;
    }
    return of;
  });
  return { content, columns };
}

/** Numbers of 7 bits a byte, the lowest first. */
export function numbers(bytes: Uint8Array, count: number): Float64Array {
  const out = new Float64Array(count);
  let at = 0;
  for (let i = 0; i < count; i += 1) {
    let byte = bytes[at++];
    let number = byte & 0x7f;
    let factor = 128;
    while (byte > 0x7f) {
      byte = bytes[at++];
      // Not shifted: times have more than 32 bits.
      number += (byte & 0x7f) * factor;
      factor *= 128;
    }
    out[i] = number;
  }
  return out;
}

/** From steps to what they lead to. */
export function summed(steps: Float64Array): Float64Array {
  let sum = 0;
  for (let i = 0; i < steps.length; i += 1) {
    sum += steps[i];
    steps[i] = sum;
  }
  return steps;
}
