/** The file system as seen by the log: the only seam at which tests inject failures. */
import { type FileHandle, open } from 'node:fs/promises';

export interface SegmentFile {
  /** Writes all buffers at a position; rejects if a part could not be written. */
  write(buffers: readonly Uint8Array[], position: number): Promise<void>;
  /** Fills the buffer with bytes of the file from a position; returns the number of bytes read. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  /** Resolves when written data is on the disk. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

export interface Disk {
  /**
   * Opens a file. `create` creates a new file and rejects if it exists; `write` opens an existing file, also for
   * reading.
   */
  open(path: string, mode: 'read' | 'write' | 'create'): Promise<SegmentFile>;
  /** Resolves when the creation and deletion of files in a directory are durable. */
  syncDirectory(path: string): Promise<void>;
}

const countBytes = (buffers: readonly Uint8Array[]): number => {
  let bytes = 0;
  for (const { length } of buffers) bytes += length;
  return bytes;
};

/** The remaining buffers after their first bytes were written. */
const skipWritten = (buffers: readonly Uint8Array[], written: number): Uint8Array[] => {
  const remaining: Uint8Array[] = [];
  let bytesToSkip = written;
  for (const buffer of buffers) {
    if (bytesToSkip < buffer.length) remaining.push(bytesToSkip === 0 ? buffer : buffer.subarray(bytesToSkip));
    bytesToSkip = Math.max(0, bytesToSkip - buffer.length);
  }
  return remaining;
};

const toSegmentFile = (handle: FileHandle): SegmentFile => ({
  async write(buffers, position) {
    let unwritten = buffers;
    let writePosition = position;
    let bytes = countBytes(buffers);
    // A full disk first accepts a part and fails only at the next attempt.
    while (bytes > 0) {
      const { bytesWritten } = await handle.writev(unwritten, writePosition);
      if (bytesWritten === bytes) return;
      if (bytesWritten === 0) throw new Error('the file system wrote nothing');
      unwritten = skipWritten(unwritten, bytesWritten);
      writePosition += bytesWritten;
      bytes -= bytesWritten;
    }
  },
  async read(buffer, position) {
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return filled;
  },
  sync: () => handle.datasync(),
  truncate: (length) => handle.truncate(length),
  size: async () => (await handle.stat()).size,
  close: () => handle.close(),
});

const flags = { read: 'r', write: 'r+', create: 'wx+' } as const;

/** The file system of the operating system. All calls run on the thread pool. */
export const disk: Disk = {
  open: async (path, mode) => toSegmentFile(await open(path, flags[mode])),
  async syncDirectory(path) {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};
