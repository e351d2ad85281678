/** SETTINGS, RFC 9113 section 6.5: those that this side announces, and those of the peer. */
import { createFlowControlError, createFrameSizeError, createProtocolError } from './errors.ts';
import { defaultMaxFrameBytes, defaultWindowBytes, maxWindowBytes, setting } from './frames.ts';
import { emptyTableUpdate } from './hpack.ts';
import type { Http2Options } from './options.ts';

const entryBytes = 6;
const largestFrame = 2 ** 24 - 1;
const defaultTableBytes = 4096;

export const encodeOwnSettings = (options: Http2Options): Buffer => {
  const entries = [
    [setting.maxConcurrentStreams, options.maxConcurrentStreams],
    [setting.initialWindowSize, options.streamWindowBytes],
    [setting.maxHeaderListSize, options.maxHeaderListBytes],
  ] as const;
  const payload = Buffer.alloc(entries.length * entryBytes);
  for (const [index, [id, value]] of entries.entries()) {
    payload.writeUInt16BE(id, index * entryBytes);
    payload.writeUInt32BE(value, index * entryBytes + 2);
  }
  return payload;
};

export class PeerSettings {
  initialWindow = defaultWindowBytes;
  maxFrameBytes = defaultMaxFrameBytes;
  /**
   * Whether the next header block must begin with a table-size update. A peer that announces a table smaller than the
   * default requires it, although this side uses no table.
   */
  #needsTableUpdate = false;

  /**
   * Applies a peer's settings. Returns the change of every stream's window. Throws a `ConnectionError` for invalid
   * settings.
   */
  apply(payload: Buffer): number {
    if (payload.length % entryBytes !== 0)
      throw createFrameSizeError('the length of SETTINGS must be a multiple of 6 bytes');
    const before = this.initialWindow;
    for (let at = 0; at < payload.length; at += entryBytes)
      this.#applySetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    return this.initialWindow - before;
  }

  #applySetting(id: number, value: number): void {
    switch (id) {
      case setting.headerTableSize:
        if (value < defaultTableBytes) this.#needsTableUpdate = true;
        return;
      case setting.enablePush:
        if (value > 1) throw createProtocolError('SETTINGS_ENABLE_PUSH is 0 or 1');
        return;
      case setting.initialWindowSize:
        if (value > maxWindowBytes) throw createFlowControlError('SETTINGS_INITIAL_WINDOW_SIZE is too large');
        this.initialWindow = value;
        return;
      case setting.maxFrameSize:
        if (value < defaultMaxFrameBytes || value > largestFrame)
          throw createProtocolError('SETTINGS_MAX_FRAME_SIZE is out of bounds');
        this.maxFrameBytes = value;
    }
  }

  prependTableUpdate(block: Buffer): Buffer {
    if (!this.#needsTableUpdate) return block;
    this.#needsTableUpdate = false;
    return Buffer.concat([emptyTableUpdate, block]);
  }
}
