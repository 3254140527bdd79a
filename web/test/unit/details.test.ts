import { expect, test } from "vitest";
import { throttledName } from "../../src/timeline/details";

test("a used-up budget says whose it is", () => {
  const groups = ["web", "audio"];
  const names = [-1, 0, 1, 2, 3].map((number) => throttledName(groups, number));
  expect(names).toEqual([
    "real-time tasks",
    "group web",
    "group audio",
    "real-time tasks of group web",
    "real-time tasks of group audio",
  ]);
});
