/** Worker thread that converts messages to Native blocks. It never loads a driver or the engine. */
import { parentPort, workerData } from 'node:worker_threads';
import { collectWhenIdle } from '../../runtime/idle-memory.ts';
import { Memory, transferableBuffers } from '../../runtime/memory.ts';
import { unpackedRecords } from '../../runtime/packed-records.ts';
import type { Scanner } from '../scan/scanner.ts';
import { scanBatch } from './batch-scan.ts';
import type { ScanReply, ScanRequest, ScanSettled } from './scan-messages.ts';
import type { Sink } from './sink.ts';

/** Scanners by sink, as promises, so that scans of one sink share the scanner that the first of them loads */
const loaded = new Map<string, Promise<Scanner>>();
const memory = new Memory();

const scannerOf = (sink: string): Promise<Scanner> => {
  const scanner = loaded.get(sink) ?? load(sink);
  loaded.set(sink, scanner);
  return scanner;
};

const load = async (name: string): Promise<Scanner> => {
  const { sinks } = (await import(workerData as string)) as { readonly sinks: readonly Sink[] };
  const sink = sinks.find((each) => each.name === name);
  if (sink === undefined) throw new Error(`sink ${name} does not exist`);
  return sink.scanner();
};

const allocate = (bytes: number): Uint8Array => new Uint8Array(memory.allocate(bytes));

const scanned = async (request: ScanRequest): Promise<ScanReply> => {
  const { id, sink, partition } = request;
  try {
    return { id, ...scanBatch(await scannerOf(sink), unpackedRecords(request.records), partition, id, allocate) };
  } catch (error) {
    // The scanner may be in any state, so the next batch gets a new one.
    loaded.delete(sink);
    return { id, blocks: [], rejected: [], failure: error instanceof Error ? error.message : String(error) };
  }
};

const settle = async ({ id, sink, landed, memory: returned }: ScanSettled): Promise<void> => {
  for (const seen of (await loaded.get(sink))?.seen ?? []) seen.settle(id, landed);
  for (const piece of returned) memory.give(piece);
};

collectWhenIdle();

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread only');
port.on('message', async (message: ScanRequest | ScanSettled) => {
  if (message.kind === 'settled') {
    await settle(message);
    return;
  }
  const reply = await scanned(message);
  port.postMessage(reply, transferableBuffers(reply.blocks.map(({ bytes }) => bytes.buffer)));
});
