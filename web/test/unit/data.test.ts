import { describe, expect, it } from "vitest";
import { numbers, parse, summed } from "../../src/data.ts";

describe("columns", () => {
  it("have 7 bits a byte, the lowest first, and more than 32 bits", () => {
    // 0, 127, 128, 300, 2^40
    const bytes = [0, 0x7f, 0x80, 1, 0xac, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
    expect([...numbers(Uint8Array.from(bytes), 5)]).toEqual([0, 127, 128, 300, 2 ** 40]);
  });

  it("of times are steps", () => {
    expect([...summed(Float64Array.from([5, 0, 7]))]).toEqual([5, 5, 12]);
  });

  it("follow the JSON, whose length comes first", () => {
    const columns = [
      { name: "a", count: 2, bytes: 2 },
      { name: "b", count: 1, bytes: 2 },
    ];
    const json = new TextEncoder().encode(JSON.stringify({ timelines: [{ columns }] }));
    const all = new Uint8Array(4 + json.length + 4);
    new DataView(all.buffer).setUint32(0, json.length, true);
    all.set(json, 4);
    all.set([1, 2, 0x80, 1], 4 + json.length);
    const { columns: read } = parse(all);
    expect([...read[0].get("a")!]).toEqual([1, 2]);
    expect([...read[0].get("b")!]).toEqual([128]);
  });
});
