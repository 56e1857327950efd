// Which of the processes that share a data folder does some work, and whether it still lives.
//
// An instance listens on a socket of its own for as long as it lives, and the system closes that when the process ends, however it
// ends. So nobody has to send signs of life, and none is mistaken for another. The first letter of its name says where the socket
// is: in the data folder, or in the system's folder for passing files where the data folder cannot hold one.

import { randomUUID } from "node:crypto";
import { unlinkSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { byteLength } from "../text.js";

/** The longest path of a socket that every system takes. */
const LONGEST_PATH = 100;
/** How long a socket may take to answer; in doubt its process lives. */
const PATIENCE_MS = 2000;

/**
 * The name of this program among those that work for one adapter in that folder, which is there; until it ends the others know that
 * it lives. Without a folder nobody else can see it.
 */
export async function enter(folder: string | undefined): Promise<string> {
  const id = randomUUID().replaceAll("-", "");
  if (folder === undefined) return id;
  try {
    await listen(folder, `f${id}`);
    return `f${id}`;
  } catch {
    await listen(folder, `t${id}`);
    return `t${id}`;
  }
}

/** Whether another instance of that folder lives. In doubt it does: its work is not taken from it. */
export async function lives(folder: string | undefined, id: string): Promise<boolean> {
  if (folder === undefined || !/^[ft][0-9a-f]{32}$/.test(id)) return false;
  try {
    return await at(folder, id, async (path) => {
      const answer = await answerOf(path);
      if (answer === "dead") remove(path);
      return answer === "lives";
    });
  } catch {
    return true;
  }
}

async function listen(folder: string, id: string): Promise<void> {
  await at(folder, id, async (path) => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
    // The process does not stay for it.
    server.unref();
    process.once("exit", () => {
      remove(socketPath(folder, id));
    });
  });
}

function socketPath(folder: string, id: string): string {
  if (platform() === "win32") return `\\\\.\\pipe\\${id}`;
  return join(id.startsWith("t") ? tmpdir() : folder, `${id}.sock`);
}

/** Uses the path of a socket, by a shorter way where the system would not take it; throws where there is none. */
async function at<T>(folder: string, id: string, use: (path: string) => Promise<T>): Promise<T> {
  const path = socketPath(folder, id);
  if (byteLength(path) <= LONGEST_PATH) return await use(path);
  if (platform() !== "linux") throw new Error("the path of the socket is too long");
  const handle: FileHandle = await open(join(path, ".."), "r");
  try {
    return await use(`/proc/self/fd/${handle.fd}/${id}.sock`);
  } finally {
    await handle.close();
  }
}

function answerOf(path: string): Promise<"lives" | "dead" | "gone"> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const done = (answer: "lives" | "dead" | "gone"): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PATIENCE_MS, () => {
      done("lives");
    });
    socket.once("connect", () => {
      done("lives");
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) => {
      done(code === "ENOENT" ? "gone" : code === "ECONNREFUSED" ? "dead" : "lives");
    });
  });
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Somebody else was faster, or it is a pipe that has no file.
  }
}
