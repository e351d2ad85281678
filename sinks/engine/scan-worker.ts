/** A worker thread that turns messages into Native blocks. It loads no driver and never the engine. */
import { parentPort } from 'node:worker_threads';
import { sinks } from '../index.ts';
import type { ScanMessage, Scanner } from '../scan/scanner.ts';
import { scanBatch } from './batch-scan.ts';
import { Memory } from './memory.ts';
import type { ScanReply, ScanRequest, ScanSettled } from './scan-messages.ts';

const scanners = new Map<string, Scanner>();
const memory = new Memory();

const scannerOf = (name: string): Scanner => {
  const known = scanners.get(name);
  if (known !== undefined) return known;
  const sink = sinks.find((candidate) => candidate.name === name);
  if (sink === undefined) throw new Error(`no sink is called ${name}`);
  const scanner = sink.scanner();
  scanners.set(name, scanner);
  return scanner;
};

const messagesOf = function* ({ offsets, lengths, headers, values }: ScanRequest): Generator<ScanMessage> {
  let at = 0;
  for (const [index, offset] of offsets.entries()) {
    const length = lengths[index] ?? 0;
    yield { offset, headers: headers[index] ?? {}, value: Buffer.from(values, at, length) };
    at += length;
  }
};

const allocate = (bytes: number): Uint8Array<ArrayBuffer> => new Uint8Array(memory.take(bytes));

const scanned = (request: ScanRequest): ScanReply => {
  const { id, sink, partition, values } = request;
  try {
    return { id, values, ...scanBatch(scannerOf(sink), messagesOf(request), partition, id, allocate) };
  } catch (error) {
    // The scanner may be left in any state: the next batch gets another one.
    scanners.delete(sink);
    return { id, values, blocks: [], rejected: [], failure: error instanceof Error ? error.message : String(error) };
  }
};

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread only');
port.on('message', (message: ScanRequest | ScanSettled) => {
  if (message.kind === 'scan') {
    const reply = scanned(message);
    port.postMessage(reply, [reply.values, ...reply.blocks.map(({ bytes }) => bytes.buffer)]);
    return;
  }
  for (const seen of scanners.get(message.sink)?.seen ?? []) seen.settle(message.id, message.landed);
  for (const returned of message.memory) memory.give(returned);
});
