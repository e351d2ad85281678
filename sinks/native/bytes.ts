import { copyRange } from '../../runtime/memory.ts';

/** Above this size, one native copy is cheaper than a loop over words. */
const minNativeCopyBytes = 512;

let viewedBytes = new Uint8Array(0) as Uint8Array;
let view = new DataView(viewedBytes.buffer);

/** A view of all the bytes. The last view is cached, because successive values are copied from one message. */
const getDataView = (bytes: Uint8Array): DataView => {
  if (bytes === viewedBytes) return view;
  viewedBytes = bytes;
  view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view;
};

/**
 * Copies a range of `bytes` to a position of `target`, which must have enough space. Short ranges are copied word by
 * word, because a call into the runtime would cost more. The last word overlaps the previous one.
 */
export const copyBytes = (bytes: Uint8Array, start: number, end: number, target: DataView, offset: number): void => {
  const count = end - start;
  if (count > minNativeCopyBytes) {
    copyRange(bytes, start, end, new Uint8Array(target.buffer, target.byteOffset), offset);
    return;
  }
  const source = getDataView(bytes);
  if (count >= 8) {
    const last = end - 8;
    for (let from = start, to = offset; from < last; from += 8, to += 8) {
      target.setBigInt64(to, source.getBigInt64(from, true), true);
    }
    target.setBigInt64(offset + count - 8, source.getBigInt64(last, true), true);
  } else if (count >= 4) {
    target.setInt32(offset, source.getInt32(start, true), true);
    target.setInt32(offset + count - 4, source.getInt32(end - 4, true), true);
  } else {
    for (let from = start, to = offset; from < end; from++, to++) target.setUint8(to, source.getUint8(from));
  }
};
