// The server as a source: one question after the other over a websocket; `ui/live.py` answers.

import { unframed } from "../shared/record.ts";
import type { Typed } from "../shared/view_base.ts";
import type { PageState, Pictures } from "./updater.ts";

const FIRST_PAUSE = 1000; // milliseconds until a server that is away or busy is asked again; then twice as long …
const LONGEST_PAUSE = 30_000;
const PATIENCE = 10_000; // after so long without an answer it is away
const IDLE = 120_000; // after so long without a key the connection ends

export const BUSY = "The server is busy. Press Enter to see your sentence.";
export const AWAY = "Connection lost. You still see the last picture.";

type World = "make" | "now" | "again";

export class Socket {
  socket: WebSocket | null = null;
  waiting: ((answer: string | ArrayBuffer | null) => void) | null = null; // who waits for an answer
  wasThere = false; // it has answered before; else nothing is said of a way that is closed
  n = 0;
  pause = 0;
  notBefore = 0; // on the clock of `now`
  ending: ReturnType<typeof setTimeout> | undefined;
  retrying: ReturnType<typeof setTimeout> | undefined;

  make = (address: string) => new WebSocket(address);
  now = () => performance.now();
  again = () => {}; // called when the server may be asked once more

  address: string;
  say: (sentence: string) => void;

  /** `say` hears what stands in the way, "" for nothing. */
  constructor(address: string, say: (sentence: string) => void, world: Partial<Pick<Socket, World>> = {}) {
    Object.assign(this, world);
    this.address = address;
    this.say = say;
  }

  async trace(text: string, known: PageState): Promise<Pictures | null> {
    if (known.page.edited || this.now() < this.notBefore) return null; // of a changed pass Python tells in a run
    this.endIn(PATIENCE);
    this.n += 1;
    const answer = await this.answerTo({ n: this.n, text, page: known.page, views: known.views.join(" ") });
    if (this.socket) this.endIn(IDLE);
    return this.read(answer);
  }

  endIn(milliseconds: number) {
    clearTimeout(this.ending);
    this.ending = setTimeout(() => this.leave(), milliseconds);
  }

  async answerTo(question: object): Promise<string | ArrayBuffer | null> {
    return new Promise((resolve) => {
      this.waiting = resolve;
      const ask = () => this.socket?.send(JSON.stringify(question));
      if (this.socket?.readyState === 1) return ask();
      try {
        this.open().onopen = ask;
      } catch {
        this.waiting = null;
        resolve(null); // a browser without websockets, or one that forbids this one
      }
    });
  }

  open() {
    const socket = this.make(this.address);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    const answer = (data: string | ArrayBuffer | null) => {
      if (this.socket !== socket) return;
      this.waiting?.(data);
      this.waiting = null;
    };
    socket.onmessage = ({ data }: MessageEvent) => answer(data);
    socket.onclose = () => {
      answer(null);
      if (this.socket === socket) this.socket = null;
    };
    return socket;
  }

  read(answer: string | ArrayBuffer | null): Pictures | null {
    if (answer === null) {
      if (this.wasThere) this.say(AWAY);
      return this.wait();
    }
    this.wasThere = true;
    if (typeof answer === "string") {
      const { busy, error } = JSON.parse(answer);
      this.say(busy ? BUSY : error);
      return busy ? this.wait() : null;
    }
    this.pause = 0;
    this.say("");
    const { header, data } = unframed<{ typed: Typed; views: Record<string, number> }>(new Uint8Array(answer));
    let at = 0;
    const views: Pictures["views"] = {};
    for (const [name, length] of Object.entries(header.views)) {
      const bytes = data.subarray(at, at + length);
      views[name] = name === "predictions" ? JSON.parse(new TextDecoder().decode(bytes)) : bytes; // a list is JSON
      at += length;
    }
    return { typed: header.typed, views };
  }

  wait() {
    this.pause = Math.min(LONGEST_PAUSE, this.pause * 2 || FIRST_PAUSE);
    this.notBefore = this.now() + this.pause;
    clearTimeout(this.retrying);
    this.retrying = setTimeout(this.again, this.pause + 1); // whoever has stopped typing still waits for a picture
    return null;
  }

  /** The server is there again: it is asked at once. */
  returned() {
    this.pause = this.notBefore = 0;
    clearTimeout(this.retrying);
    this.again();
  }

  /** Ends the connection; the next key opens one. */
  leave() {
    clearTimeout(this.ending);
    clearTimeout(this.retrying);
    const { socket } = this;
    this.socket = null;
    this.waiting?.(null);
    this.waiting = null;
    socket?.close();
  }
}
