import { copyRange } from '../../runtime/memory.ts';

/** Above this size, one native copy is cheaper than a loop over words. */
const minNativeCopyBytes = 512;

let viewedBytes = new Uint8Array(0) as Uint8Array;
let view = new DataView(viewedBytes.buffer);

/** A view of all the bytes. The last view is cached, because successive values are copied from one message. */
const viewBytes = (bytes: Uint8Array): DataView => {
  if (bytes === viewedBytes) return view;
  viewedBytes = bytes;
  view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view;
};

/**
 * Copies a run within `bytes` to a position of `target` with enough room. Short runs are copied word by word, because a
 * call into the runtime would cost more than the bytes. The last word overlaps the previous one.
 */
export const copyBytes = (bytes: Uint8Array, start: number, end: number, target: DataView, at: number): void => {
  const count = end - start;
  if (count > minNativeCopyBytes) {
    copyRange(bytes, start, end, new Uint8Array(target.buffer, target.byteOffset), at);
    return;
  }
  const source = viewBytes(bytes);
  if (count >= 8) {
    const last = end - 8;
    for (let from = start, to = at; from < last; from += 8, to += 8) {
      target.setBigInt64(to, source.getBigInt64(from, true), true);
    }
    target.setBigInt64(at + count - 8, source.getBigInt64(last, true), true);
  } else if (count >= 4) {
    target.setInt32(at, source.getInt32(start, true), true);
    target.setInt32(at + count - 4, source.getInt32(end - 4, true), true);
  } else {
    for (let from = start, to = at; from < end; from++, to++) target.setUint8(to, source.getUint8(from));
  }
};
