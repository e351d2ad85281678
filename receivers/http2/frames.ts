/** Frame layout of RFC 9113, sections 4 and 6. */
export const frameType = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goAway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

export const flag = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const setting = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
} as const;

export const frameHeaderBytes = 9;
/** Initial limit for sent frames, and the permanent limit for received ones. */
export const defaultMaxFrameBytes = 16_384;
export const defaultWindowBytes = 65_535;
export const maxWindowBytes = 2 ** 31 - 1;
export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export const writeFrameHeader = (
  into: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): void => {
  into[at] = length >>> 16;
  into[at + 1] = length >>> 8;
  into[at + 2] = length;
  into[at + 3] = type;
  into[at + 4] = flags;
  into[at + 5] = stream >>> 24;
  into[at + 6] = stream >>> 16;
  into[at + 7] = stream >>> 8;
  into[at + 8] = stream;
};
