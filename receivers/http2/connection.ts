/** A peer's connection: reads frames, enforces the rules of RFC 9113, and passes requests to their handlers. */
import type { Socket } from 'node:net';
import {
  ConnectionError,
  createFlowControlError,
  createFrameSizeError,
  createProtocolError,
  errorCode,
} from './errors.ts';
import { FrameBudgetTracker } from './frame-budget.ts';
import { FrameReader, type FrameSink, removePadding } from './frame-reader.ts';
import { defaultWindowBytes, flag, frameType, maxWindowBytes } from './frames.ts';
import { type HeaderBlock, HeaderBlocks } from './header-blocks.ts';
import { HpackDecoder } from './hpack.ts';
import type { Http2Options } from './options.ts';
import { Output } from './output.ts';
import { encodeOwnSettings, PeerSettings } from './settings.ts';
import { type Http2Stream, Stream, type StreamHandler, type StreamOwner } from './stream.ts';
import { Streams } from './streams.ts';
import { computeWindowIncrement, SendWindow } from './windows.ts';

const headersTooLarge = Object.freeze({ ':status': '431', 'content-length': '0' });
const notHttp2 = Buffer.from(
  'HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n' +
    'This port speaks gRPC over HTTP/2, without TLS.\n',
);
const emptyPayload = Buffer.alloc(0);
/** Time for a peer to close a connection that has ended on this side. */
const lingerMs = 1_000;

export class Connection implements StreamOwner, FrameSink {
  readonly output: Output;
  readonly peer: string | undefined;
  readonly #socket: Socket;
  readonly #createHandler: (stream: Http2Stream) => StreamHandler;
  readonly #options: Http2Options;
  readonly #reader: FrameReader;
  readonly #blocks: HeaderBlocks;
  readonly #hpack: HpackDecoder;
  readonly #frameBudget: FrameBudgetTracker;
  readonly #settings = new PeerSettings();
  readonly #streams = new Streams();
  /** Stream of the DATA frame that is being read; `undefined` if its data is dropped. */
  #dataStream: Stream | undefined;
  #isLastData = false;
  #phase: 'handshake' | 'open' | 'over' = 'handshake';
  #isDraining = false;
  #receiveWindow: number;
  readonly sendWindow = new SendWindow();
  /** Deadline of the current phase, on the `performance.now()` clock; 0 for none. */
  #deadlineAt: number;

  constructor(socket: Socket, accept: (stream: Http2Stream) => StreamHandler, options: Http2Options) {
    this.#socket = socket;
    this.peer = socket.remoteAddress;
    this.#createHandler = accept;
    this.#options = options;
    this.#receiveWindow = options.connectionWindowBytes;
    this.#reader = new FrameReader(this);
    this.#blocks = new HeaderBlocks(options);
    this.#hpack = new HpackDecoder({ maxListBytes: options.maxHeaderListBytes });
    this.#frameBudget = new FrameBudgetTracker(options.controlFrameBudget);
    this.output = new Output(socket, () => this.#flushAll());
    this.#deadlineAt = performance.now() + options.receiveTimeoutMs;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.once('close', () => this.#handleClose());
    // The `close` event reports a broken connection.
    socket.on('error', () => undefined);
  }

  /** Ends streams and phases that take too long. */
  checkDeadlines(now: number): void {
    if (this.#deadlineAt !== 0 && this.#deadlineAt < now) this.#socket.destroy();
  }

  /** Sends GOAWAY: pending calls complete, new ones go elsewhere; the connection ends with the last call. */
  drain(): void {
    if (this.#isDraining || this.#phase === 'over') return;
    this.#isDraining = true;
    // Nothing may be sent before the peer's preface has arrived.
    if (this.#phase === 'handshake') return void this.#socket.destroy();
    this.#goAway(errorCode.noError, '');
    if (this.#streams.size === 0) this.#endConnection();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  block(block: Buffer): Buffer {
    return this.#settings.prependTableUpdate(block);
  }

  onClosed(stream: Stream, reset: boolean): void {
    stream.isClosed = true;
    this.#streams.delete(stream);
    if (reset) this.#streams.recordReset(stream.id);
    stream.handler?.closed();
    if (this.#isDraining && this.#streams.size === 0) this.#endConnection();
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.read(chunk);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#fail(error);
    }
    if (this.#phase !== 'open') return;
    if (this.#reader.isComplete) this.#deadlineAt = 0;
    else if (this.#deadlineAt === 0 || this.#reader.hasAdvanced)
      this.#deadlineAt = performance.now() + this.#options.receiveTimeoutMs;
  }

  onPreface(): void {
    const { connectionWindowBytes } = this.#options;
    this.output.frame(frameType.settings, 0, 0, encodeOwnSettings(this.#options));
    const increment = connectionWindowBytes - defaultWindowBytes;
    if (increment > 0) this.output.writeNumberFrame(frameType.windowUpdate, 0, increment);
  }

  /** Responds in HTTP/1 to a client that uses HTTP/1. */
  onForeignProtocol(beginning: Buffer): void {
    if (/^[A-Z]{3,8} [/*h]/.test(beginning.toString('latin1', 0, 16))) this.output.writeRaw(notHttp2);
    this.#endConnection();
  }

  frame(type: number, flags: number, id: number, payload: Buffer): void {
    switch (type) {
      case frameType.data:
        this.#handlePaddedData(id, flags, payload);
        break;
      case frameType.headers:
        this.#handleBlock(this.#blocks.readHeaders(id, flags, payload));
        break;
      case frameType.continuation:
        this.#handleBlock(this.#blocks.readContinuation(id, flags, payload));
        break;
      case frameType.settings:
        this.#applySettings(id, flags, payload);
        break;
      case frameType.windowUpdate:
        this.#handleWindowUpdate(id, payload);
        break;
      case frameType.rstStream:
        this.#handleRstStream(id, payload);
        break;
      case frameType.ping:
        this.#handlePing(id, flags, payload);
        break;
      case frameType.priority:
        this.#handlePriority(id, payload);
        break;
      case frameType.goAway:
        this.#frameBudget.spend('GOAWAY');
        if (id !== 0) throw createProtocolError('GOAWAY is not for a stream');
        if (payload.length < 8) throw createFrameSizeError('GOAWAY has at least 8 bytes');
        break;
      case frameType.pushPromise:
        throw createProtocolError('a client must not push');
      default:
        this.#frameBudget.spend('of an unknown type');
    }
  }

  onDataStart(id: number, flags: number, length: number): void {
    this.#beginData(id, flags, length, length);
  }

  onDataPart(bytes: Buffer): void {
    const stream = this.#dataStream;
    if (stream !== undefined && !stream.isClosed) stream.handler?.data(bytes);
  }

  onDataEnd() {
    const stream = this.#dataStream;
    this.#dataStream = undefined;
    if (stream === undefined || stream.isClosed) return;
    if (this.#isLastData) return this.#handleRequestEnd(stream);
    const more = computeWindowIncrement(stream.receiveWindow, this.#options.streamWindowBytes);
    if (more === 0) return;
    stream.receiveWindow += more;
    this.output.writeNumberFrame(frameType.windowUpdate, stream.id, more);
  }

  #handlePaddedData(id: number, flags: number, payload: Buffer): void {
    const body = removePadding(payload, flags);
    this.#beginData(id, flags, payload.length, body.length);
    if (body.length > 0) this.onDataPart(body);
    this.onDataEnd();
  }

  /** `windowBytes` counts against the windows; `length` bytes of it belong to the body. */
  #beginData(id: number, flags: number, windowBytes: number, length: number): void {
    if (id === 0) throw createProtocolError('DATA is for a stream');
    this.#isLastData = (flags & flag.endStream) !== 0;
    if (length === 0 && !this.#isLastData) this.#frameBudget.spend('DATA without bytes');
    this.#receiveWindow -= windowBytes;
    if (this.#receiveWindow < 0) throw createFlowControlError('more bytes than the connection’s window');
    this.#growReceiveWindow();
    const stream = this.#streams.get(id);
    if (!this.#acceptsData(id, stream)) return;
    this.#dataStream = stream;
    stream.receiveWindow -= windowBytes;
    stream.expectedBytes -= length;
    if (stream.receiveWindow < 0) stream.reset(errorCode.flowControlError);
    else if (stream.expectedBytes < 0) stream.reset(errorCode.protocolError);
  }

  #acceptsData(id: number, stream: Stream | undefined): stream is Stream {
    this.#dataStream = undefined;
    if (stream === undefined) {
      this.#streams.requireKnownStream(id, 'DATA');
      return false;
    }
    if (!stream.hasEnded) return true;
    stream.reset(errorCode.streamClosed);
    return false;
  }

  #growReceiveWindow(): void {
    const more = computeWindowIncrement(this.#receiveWindow, this.#options.connectionWindowBytes);
    if (more === 0) return;
    this.#receiveWindow += more;
    this.output.writeNumberFrame(frameType.windowUpdate, 0, more);
  }

  #handleRequestEnd(stream: Stream) {
    if (stream.expectedBytes > 0) return stream.reset(errorCode.protocolError);
    stream.hasEnded = true;
    this.#frameBudget.addForRequest();
    stream.handler?.end();
  }

  /** Blocks are decoded regardless of their stream, because the table belongs to the connection. */
  #handleBlock(block: HeaderBlock | undefined) {
    if (block === undefined) return;
    const stream = this.#streams.get(block.stream);
    if (stream === undefined && block.stream > this.#streams.highestId) return this.#beginStream(block);
    const { headers, fieldFault } = this.#hpack.decode(block.bytes);
    if (stream === undefined) this.#streams.requireKnownStream(block.stream, 'HEADERS');
    else if (stream.hasEnded) stream.reset(errorCode.streamClosed);
    else if (!block.endStream || fieldFault !== undefined || Object.keys(headers).some((name) => name.startsWith(':')))
      stream.reset(errorCode.protocolError);
    else this.#handleRequestEnd(stream);
  }

  #beginStream({ stream: id, endStream, bytes }: HeaderBlock) {
    this.#streams.highestId = id;
    const { headers, requestFault, isTooLarge } = this.#hpack.decode(bytes);
    const { streamWindowBytes, maxConcurrentStreams } = this.#options;
    if (this.#isDraining || this.#streams.size >= maxConcurrentStreams)
      return this.#resetStream(id, errorCode.refusedStream);
    const stream = new Stream(this, id, headers, streamWindowBytes, this.#settings.initialWindow);
    stream.hasEnded = endStream;
    this.#streams.add(stream);
    if (isTooLarge) return stream.respond(headersTooLarge, true);
    if (requestFault !== undefined || (endStream && stream.expectedBytes > 0)) {
      this.#frameBudget.spend('a malformed request');
      return stream.reset(errorCode.protocolError);
    }
    const handler = this.#createHandler(stream);
    // A request with an immediate response may be over before its handler is set.
    if (stream.isClosed) return handler.closed();
    stream.handler = handler;
    if (endStream) this.#handleRequestEnd(stream);
  }

  #resetStream(id: number, code: number) {
    const stream = this.#streams.get(id);
    if (stream !== undefined) return stream.reset(code);
    this.output.writeNumberFrame(frameType.rstStream, id, code);
    this.#streams.recordReset(id);
  }

  #handleRstStream(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw createFrameSizeError('RST_STREAM has 4 bytes');
    this.#streams.requireBegun(id, 'RST_STREAM');
    this.#frameBudget.spend('RST_STREAM');
    const stream = this.#streams.get(id);
    // Any later frame from the sender was sent after RST_STREAM, so it is invalid.
    if (stream !== undefined) this.onClosed(stream, false);
  }

  #handleWindowUpdate(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw createFrameSizeError('WINDOW_UPDATE has 4 bytes');
    if (!this.sendWindow.allowsUpdate()) this.#frameBudget.spend('WINDOW_UPDATE');
    const increment = payload.readUInt32BE(0) & 0x7fffffff;
    const stream = this.#streams.get(id);
    if (id === 0) {
      if (increment === 0) throw createProtocolError('WINDOW_UPDATE of 0');
      this.sendWindow.grow(increment);
      this.#flushAll();
    } else if (stream !== undefined) {
      stream.sendWindow += increment;
      if (increment === 0) stream.reset(errorCode.protocolError);
      else if (stream.sendWindow > maxWindowBytes) stream.reset(errorCode.flowControlError);
      else stream.flush();
    } else this.#streams.requireBegun(id, 'WINDOW_UPDATE');
  }

  /** Flushes all streams when the output has room for waiting responses. */
  #flushAll(): void {
    for (const stream of this.#streams.all()) stream.flush();
  }

  #handlePing(id: number, flags: number, payload: Buffer): void {
    this.#frameBudget.spend('PING');
    if (id !== 0) throw createProtocolError('PING is not for a stream');
    if (payload.length !== 8) throw createFrameSizeError('PING has 8 bytes');
    if ((flags & flag.ack) === 0) this.output.frame(frameType.ping, flag.ack, 0, payload);
  }

  /** Priorities are ignored, because RFC 9113 deprecates them. */
  #handlePriority(id: number, payload: Buffer): void {
    this.#frameBudget.spend('PRIORITY');
    if (id === 0) throw createProtocolError('PRIORITY is for a stream');
    if (payload.length !== 5) this.#resetStream(id, errorCode.frameSizeError);
    else if ((payload.readUInt32BE(0) & 0x7fffffff) === id) this.#resetStream(id, errorCode.protocolError);
  }

  #applySettings(id: number, flags: number, payload: Buffer): void {
    this.#frameBudget.spend('SETTINGS');
    if (id !== 0) throw createProtocolError('SETTINGS are not for a stream');
    if ((flags & flag.ack) !== 0) {
      if (payload.length > 0) throw createFrameSizeError('an acknowledgement of SETTINGS is empty');
      return;
    }
    const change = this.#settings.apply(payload);
    if (this.#phase === 'handshake') this.#phase = 'open';
    this.output.maxFrameBytes = this.#settings.maxFrameBytes;
    this.output.frame(frameType.settings, flag.ack, 0, emptyPayload);
    if (change === 0) return;
    for (const stream of this.#streams.all()) {
      stream.sendWindow += change;
      if (stream.sendWindow > maxWindowBytes) throw createFlowControlError('a stream’s window is too large');
      stream.flush();
    }
  }

  #goAway(code: number, reason: string): void {
    const text = Buffer.from(reason);
    const payload = Buffer.alloc(8 + text.length);
    payload.writeUInt32BE(this.#streams.highestId, 0);
    payload.writeUInt32BE(code, 4);
    payload.set(text, 8);
    this.output.frame(frameType.goAway, 0, 0, payload);
  }

  #fail({ code, message }: ConnectionError): void {
    this.#goAway(code, message);
    this.#endConnection();
  }

  /**
   * Sends pending output and closes; if the peer does not close its side, the connection is destroyed after a while.
   */
  #endConnection(): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#reader.stop();
    this.#deadlineAt = performance.now() + lingerMs;
    this.output.flush();
    this.#socket.end();
    this.#closeAllStreams();
  }

  #handleClose(): void {
    this.#phase = 'over';
    this.#reader.stop();
    this.#closeAllStreams();
  }

  #closeAllStreams(): void {
    for (const stream of this.#streams.all()) {
      stream.isClosed = true;
      this.#streams.delete(stream);
      stream.handler?.closed();
    }
  }
}
