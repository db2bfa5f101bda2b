// Runs engines for tests: each line of the input is a question, each line of the output its answer. Arrays travel in a
// file, one after the other.

import { webcrypto } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Engine } from "../../tfmviz/views/engine/engine.ts";
import { byteTokens, visible } from "../../tfmviz/views/engine/tokens.ts";
import { transformerOf } from "../../tfmviz/views/engine/transformer.ts";
import { fetchEngine, tensorsOf } from "../../tfmviz/views/engine/view.ts";
import { stepsOf } from "../../tfmviz/views/engine/weights.ts";
import { unpack } from "../../tfmviz/views/shared/arrays.ts";
import { headOf } from "../../tfmviz/views/steps/head.ts";
import { saysOf, sceneOf } from "../../tfmviz/views/whole_model/from_record.ts";

const listed = (arrays) => Object.fromEntries(Object.entries(arrays).map(([name, { values }]) => [name, [...values]]));

const engines = new Map();
const tasks = {
  load({ name, config, weights, tokenizer }) {
    const transformer = transformerOf(config, tensorsOf(new Uint8Array(readFileSync(weights))));
    engines.set(name, new Engine(transformer, byteTokens(JSON.parse(readFileSync(tokenizer, "utf8")))));
  },
  encode: ({ name, texts, max_len }) => {
    const { tokenizer } = engines.get(name);
    return texts.map((text) => {
      if (!tokenizer.knows(text)) return null;
      const encoding = tokenizer.encode(text, max_len);
      return { ...encoding, labels: encoding.tokens.map(visible) };
    });
  },
  async fetch({ name, parcel, folder, encrypted }) {
    Object.defineProperty(globalThis, "crypto", { value: encrypted ? webcrypto : undefined, configurable: true });
    const asked = [];
    globalThis.document = { baseURI: "https://app/page/" };
    const get = async (address) => {
      asked.push(address);
      const path = `${folder}/${address.split("/").at(-1)}`;
      return existsSync(path) ? new Response(readFileSync(path)) : new Response("", { status: 404 });
    };
    engines.set(name, await fetchEngine(parcel, get));
    return asked;
  },
  knows: ({ name, texts }) => texts.map((text) => engines.get(name).tokenizer.knows(text)),
  vocabulary: ({ name }) => engines.get(name).tokenizer.vocabulary,
  trace({ name, text, wishes, out }) {
    const { facts, sites } = engines.get(name).trace(text, wishes);
    const values = Object.entries(sites);
    writeFileSync(
      out,
      Buffer.concat(values.map(([, { data }]) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength))),
    );
    return { facts, sites: values.map(([site, { shape, data }]) => [site, shape, data.BYTES_PER_ELEMENT]) };
  },
  read({ name, texts, changes }) {
    const engine = engines.get(name);
    const { stream } = engine.transformer;
    return texts.map((text, n) => {
      let read = null;
      engine.transformer.stream = (ids, tap, past) => {
        read = [past, past + ids.length];
        return stream.call(engine.transformer, ids, tap, past);
      };
      engine.trace(text, changes?.[n]);
      return read;
    });
  },
  running: ({ name }) => engines.get(name).tokenizer.vocabulary.map((_, id) => engines.get(name).running(id)),
  next({ name, position }) {
    const { logits, probabilities } = engines.get(name).next(position ?? undefined);
    return { logits: [...logits], probabilities: [...probabilities] };
  },
  scene({ name, text, drawn, token }) {
    const engine = engines.get(name);
    const record = engine.trace(text);
    const { header, arrays } = unpack(sceneOf(drawn, record, engine));
    return { header, arrays: listed(arrays), says: saysOf(drawn, record, engine, token) };
  },
  head({ name, text, shown }) {
    const engine = engines.get(name);
    const made = stepsOf(engine.trace(text), engine, shown, { withWeights: true });
    return { facts: made.facts, arrays: listed(headOf(made).arrays) };
  },
  earlier({ name, text, wishes, position, others }) {
    const engine = engines.get(name);
    engine.trace(text, wishes);
    const { last } = engine;
    for (const other of others) engine.trace(other);
    const { logits, probabilities } = engine.next(position, { pass: last });
    return { logits: [...logits], probabilities: [...probabilities] };
  },
  type({ name, passes }) {
    for (const { text, wishes } of passes) engines.get(name).trace(text, wishes);
  },
  times({ name, texts, wishes }) {
    const engine = engines.get(name);
    return texts.map((text) => {
      const from = performance.now();
      engine.trace(text, wishes);
      engine.next();
      return performance.now() - from;
    });
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { task, ...given } = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await tasks[task](given)) ?? null };
  } catch (error) {
    answer = { complaint: error.message, stack: error.stack };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
