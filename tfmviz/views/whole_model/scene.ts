// The picture as Python sends it, and what is asked of its columns.

import type { Says } from "./follow.ts";

/** What Python sends; tfmviz/views/whole_model/scene.py describes a column. */
export interface Scene {
  title: string;
  zoom: "model" | "block" | "head";
  beside?: boolean; // another one, so that nothing is opened from here
  layer: string;
  head: number;
  lanes: Lane[];
  total: number; // parameters of the model
  numbers: number; // that a vector is drawn with, at most
  width: number; // numbers that it has
}

/** What is chosen, and around it model and text as an address, kinds of layers, pages; `token` null: as before. */
export type Answer = { layer: string; head: number; token: number | null; says: Says } & Partial<Around>;

export type Around = Record<"address" | "kinds" | "pages", Record<string, string>>;

export interface Lane {
  stack: string;
  title: string;
  note: string;
  tokens: string[];
  columns: Column[];
  oneHot?: { ids: number[]; size: number };
  marks?: { title: string; by: string; values: string[] };
}

export interface Column {
  id: string;
  kind: string;
  title: string;
  lines: string[];
  words: string;
  links: [page: string, settings: Record<string, string>][];
  shape: number[];
  matrix: string;
  image?: "strips" | "pattern" | "words";
  parameters?: number;
  parts?: { kind: string; lines: string[]; onStream?: boolean }[];
  heads?: { layer: string; count: number; thumbs: string; writes: string };
  reads?: string;
  bars?: { kind: string; label: string; values: string }[];
  from?: string[];
  labels?: string[];
  allowed?: string;
  logits?: string;
  says?: boolean;
  crosses?: boolean;
  apart?: boolean;
  opens?: { zoom: "block" | "head"; layer: string; head?: number };
}

/** of the band of amounts */
export type Row = { kind: string; label: string };

/** The first box of a lane: its tokens, and what they are for the model; `size` is that of the vocabulary. */
export const entrance = (lane: Lane, size: number): Column => ({
  id: `${lane.stack}.tokens`,
  kind: "embed",
  title: "tokens",
  lines: ["one-hot"],
  shape: [lane.tokens.length, size],
  matrix: "",
  links: [],
  words: `${written(size)} numbers for each token: 1 at its index in the vocabulary, 0 elsewhere.`,
});

export const hasBypass = (column: Column) => (column.parts ?? []).some(({ kind }) => kind === "add");

export const written = (count: number) => count.toLocaleString("en");

/** What is written below a column where one stands below the other. */
export const onPhone = (rows: Row[], column: Column) =>
  rows.filter(({ kind }) => kind !== "sure" && column.image !== "words" && hasRow(column, kind));

/** Whether a column says something of this kind in the band of amounts. */
export function hasRow(column: Column, kind: string) {
  if (kind === "says" || kind === "sure") return Boolean(column.says) || column.image === "words";
  if (kind === "length") return column.image === "strips";
  return (column.bars ?? []).some((bar) => bar.kind === kind);
}
