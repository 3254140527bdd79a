// The data of a page, as crates/report/src/page writes it.

export type Unit = "text" | "id" | "count" | "ns" | "share";

export interface Fact {
  name: string;
  value: string;
}

export interface Figure {
  label: string;
  value: number;
  unit: Unit;
}

export type Cell = string | number | null;

export interface Table {
  title: string;
  note: string | null;
  columns: { label: string; unit: Unit }[];
  rows: Cell[][];
}

export interface Difference {
  metric: { key: string; label: string; unit: "count" | "ns"; better: "lower" | "higher" | "neutral" };
  base: number;
  variant: number;
  difference: number;
  interval?: { low: number; high: number };
  verdict: "changed" | "untested" | "not_significant" | "identical";
  doubtful: boolean;
}

export interface Variant {
  name: string;
  verdict: string;
  sentences: string[];
  differences: Difference[];
}

/** A part of a latency; times are on the clock of the timelines. */
export interface Stretch {
  text: string;
  /** Number of the kind of cause. */
  kind: number;
  cpu: number | null;
  from_ns: number;
  to_ns: number;
  decisions: string[];
}

export interface Explained {
  who: string;
  pid: number;
  /** Follows "after". */
  due: string;
  due_ns: number;
  /** The same on the clock of a recording. */
  clock: string | null;
  first_ns: number;
  cpu: number;
  /** Where it lies, if there is room for it. */
  timeline: number | null;
  stretches: Stretch[];
  afterwards: Stretch[];
  notes: string[];
  tables: Table[];
}

export interface Blamed {
  victim: string;
  tasks: number;
  wakeups: number;
  total_ns: number;
  p99_ns: number;
  max_ns: number;
  rows: {
    due_to: string;
    kind: number;
    times: number;
    all_ns: number;
    p99_ns: number;
    tail_ns: number;
  }[];
}

export interface Why {
  wakeups: number;
  kinds: string[];
  explanations: Explained[];
  decisions: { name: string; meaning: string }[];
  blame: Blamed[];
}

export interface CurvePoint {
  x: number;
  y: number;
  low: number;
  high: number;
  published: number | null;
}

export interface Chart {
  title: string;
  x_label: string;
  x_names: string[];
  y_label: string;
  y_unit: Unit;
  lines: { name: string; points: CurvePoint[] }[];
}

export interface Task {
  pid: number;
  names: string[];
  prio: number | null;
  state: number;
  cpu: number;
}

export interface TimelineHead {
  name: string;
  cpus: number;
  start_ns: number;
  length_ns: number;
  first_on_cpu: (number | null)[];
  tasks: Task[];
  interrupt_names: string[];
  lock_names: string[];
  groups: string[];
  reasons: { name: string; meaning: string }[];
  markers: { time_ns: number; cpu: number; task: number; text: string }[];
  settings: { time_ns: number; text: string }[];
  left_out: string[];
  columns: { name: string; count: number; bytes: number }[];
}

export interface Content {
  schema: "schedlab-page/1";
  title: string;
  version: string;
  command: string | null;
  facts: Fact[];
  warnings: string[];
  figures: Figure[];
  variants: Variant[];
  method: string | null;
  why: Why | null;
  charts: Chart[];
  tables: Table[];
  texts: { title: string; text: string }[];
  notes: string[];
  timelines: TimelineHead[];
}
