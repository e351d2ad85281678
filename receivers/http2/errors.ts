/** Error codes of HTTP/2, RFC 9113 section 7. */
export const errorCode = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  connectError: 0xa,
  enhanceYourCalm: 0xb,
} as const;

/** An error that ends the connection; GOAWAY reports it to the peer. */
export class ConnectionError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const createProtocolError = (message: string): ConnectionError =>
  new ConnectionError(errorCode.protocolError, message);
export const createCompressionError = (message: string): ConnectionError =>
  new ConnectionError(errorCode.compressionError, message);
export const createFrameSizeError = (message: string): ConnectionError =>
  new ConnectionError(errorCode.frameSizeError, message);
export const createFlowControlError = (message: string): ConnectionError =>
  new ConnectionError(errorCode.flowControlError, message);
export const createAbuseError = (message: string): ConnectionError =>
  new ConnectionError(errorCode.enhanceYourCalm, message);
