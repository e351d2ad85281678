/** Worker thread that converts messages to Native blocks. It never loads a driver or the engine. */
import { parentPort, workerData } from 'node:worker_threads';
import { collectWhenIdle } from '../../runtime/idle-memory.ts';
import { TransferMemoryPool, transferableBuffers } from '../../runtime/memory.ts';
import { unpackRecords } from '../../runtime/packed-records.ts';
import type { Scanner } from '../scan/scanner.ts';
import { scanBatch } from './batch-scan.ts';
import type { ScanReply, ScanRequest, ScanSettled } from './scan-messages.ts';
import type { Sink } from './sink.ts';

/** Scanners by sink, as promises, so that scans of one sink share the scanner that the first of them loads */
const scanners = new Map<string, Promise<Scanner>>();
const memory = new TransferMemoryPool();

const openScanner = (sink: string): Promise<Scanner> => {
  const scanner = scanners.get(sink) ?? loadScanner(sink);
  scanners.set(sink, scanner);
  return scanner;
};

const loadScanner = async (name: string): Promise<Scanner> => {
  const { sinks } = (await import(workerData as string)) as { readonly sinks: readonly Sink[] };
  const sink = sinks.find((candidate) => candidate.name === name);
  if (sink === undefined) throw new Error(`sink ${name} does not exist`);
  return sink.scanner();
};

const allocate = (bytes: number): Uint8Array => new Uint8Array(memory.allocate(bytes));

const runScan = async (request: ScanRequest): Promise<ScanReply> => {
  const { id, sink, partition } = request;
  try {
    return { id, ...scanBatch(await openScanner(sink), unpackRecords(request.records), partition, id, allocate) };
  } catch (error) {
    // The scanner may be in any state, so the next batch gets a new one.
    scanners.delete(sink);
    return { id, blocks: [], rejected: [], failure: error instanceof Error ? error.message : String(error) };
  }
};

const handleSettled = async ({ id, sink, hasLanded, memory: returnedMemory }: ScanSettled): Promise<void> => {
  for (const hours of (await scanners.get(sink))?.landedHours ?? []) hours.settle(id, hasLanded);
  for (const buffer of returnedMemory) memory.reuse(buffer);
};

collectWhenIdle();

const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread only');
port.on('message', async (message: ScanRequest | ScanSettled) => {
  if (message.kind === 'settled') {
    await handleSettled(message);
    return;
  }
  const reply = await runScan(message);
  port.postMessage(reply, transferableBuffers(reply.blocks.map(({ bytes }) => bytes.buffer)));
});
