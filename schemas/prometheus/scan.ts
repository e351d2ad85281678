/** Validates remote-write requests before they are accepted. The README of this folder explains the rules. */
import { PermanentError } from '../errors.ts';
import { getMessageNumber } from '../protobuf/messages.ts';
import { createMalformedError, WireReader } from '../protobuf/reader.ts';
import { WireScanner } from '../protobuf/scan.ts';
import { type RecordChecks, type SeparatedRequest, separateRecords } from '../protobuf/separate.ts';
import type { SplittableMessage } from '../protobuf/split.ts';
import { findUnknownField } from '../protobuf/unknown-fields.ts';
import type { TimeRange } from '../readable-times.ts';
import { NativeHistograms } from './histograms.ts';
import { LabelNameValidator } from './labels.ts';
import { writeRequest2Schema, writeRequestSchema } from './messages.ts';
import { schemasByVersion } from './split.ts';
import { SymbolTable } from './symbols.ts';

/** Contents of a request, counted for the response headers of Remote-Write 2.0 and for usage. */
export interface WriteRequestCounts {
  samples: number;
  histograms: number;
  exemplars: number;
}

const writeRequest = getMessageNumber(writeRequestSchema, 'WriteRequest');
const writeRequest2 = getMessageNumber(writeRequest2Schema, 'Request');

const requireVersion1 = (tag: number, position: number): void => {
  if (tag === 0x22 || tag === 0x2a)
    throw createMalformedError('the body is a Remote-Write 2.0 request sent as 1.0', position);
};
const requireVersion2 = (tag: number, position: number): void => {
  if (tag < 0x20)
    throw createMalformedError('the body is not a Remote-Write 2.0 request: fields 1 to 3 are reserved', position);
};

/** Validates and counts the contents of a 1.0 request whose wire format is valid. */
class WriteRequestV1Validator {
  readonly counts: WriteRequestCounts = { samples: 0, histograms: 0, exemplars: 0 };
  readonly #reader: WireReader;
  readonly #names: LabelNameValidator;
  readonly #histograms: NativeHistograms;

  constructor(body: Uint8Array) {
    this.#reader = new WireReader(body);
    this.#names = new LabelNameValidator(body);
    this.#histograms = new NativeHistograms(body);
  }

  validateRequest(end: number): void {
    const reader = this.#reader;
    while (reader.position < end) {
      const at = reader.position;
      const tag = reader.readTag(end);
      if (tag === 0x0a) this.#validateSeries(reader.readLengthEnd(end), at);
      else {
        requireVersion1(tag, at);
        reader.skip(tag, end);
      }
    }
  }

  validateSeriesAt(start: number, end: number): void {
    this.#reader.position = start;
    this.#validateSeries(end, start);
  }

  #validateSeries(end: number, at: number): void {
    const reader = this.#reader;
    this.#names.reset();
    while (reader.position < end) {
      const tag = reader.readTag(end);
      if (tag === 0x0a) {
        this.#validateLabel(reader.readLengthEnd(end));
        continue;
      }
      if (tag === 0x12) this.counts.samples++;
      else if (tag === 0x1a) this.counts.exemplars++;
      else if (tag === 0x22) {
        this.#validateHistogram(reader.readLengthEnd(end));
        continue;
      }
      reader.skip(tag, end);
    }
    this.#names.requireValid(at, true);
  }

  #validateHistogram(end: number): void {
    this.counts.histograms++;
    this.#histograms.requireValid(this.#reader.position, end);
    this.#reader.position = end;
  }

  #validateLabel(end: number): void {
    const reader = this.#reader;
    const at = reader.position;
    let start = at;
    let nameEnd = at;
    let hasValue = false;
    while (reader.position < end) {
      const tag = reader.readTag(end);
      if (tag === 0x0a) {
        nameEnd = reader.readLengthEnd(end);
        start = reader.position;
        reader.position = nameEnd;
      } else if (tag === 0x12) {
        const valueEnd = reader.readLengthEnd(end);
        hasValue = valueEnd > reader.position;
        reader.position = valueEnd;
      } else reader.skip(tag, end);
    }
    this.#names.add(start, nameEnd, at);
    if (this.#names.isMetricName && !hasValue) this.#names.removeMetricName();
  }
}

/** Validates and counts the contents of a 2.0 request whose wire format is valid. */
class WriteRequestV2Validator {
  readonly counts: WriteRequestCounts = { samples: 0, histograms: 0, exemplars: 0 };
  readonly #reader: WireReader;
  readonly #names: LabelNameValidator;
  readonly #symbols: SymbolTable;
  readonly #histograms: NativeHistograms;
  #referenceCount = 0;
  #hasMetadata = false;

  constructor(body: Uint8Array) {
    this.#reader = new WireReader(body);
    this.#names = new LabelNameValidator(body);
    this.#histograms = new NativeHistograms(body);
    this.#symbols = new SymbolTable(body);
  }

  validateRequest(end: number): void {
    const reader = this.#reader;
    while (reader.position < end) {
      const at = reader.position;
      const tag = reader.readTag(end);
      if (tag === 0x2a) this.#validateSeries(reader.readLengthEnd(end), at);
      else {
        requireVersion2(tag, at);
        reader.skip(tag, end);
      }
    }
  }

  validateSeriesAt(start: number, end: number): void {
    this.#reader.position = start;
    this.#validateSeries(end, start);
    this.#reader.position = start;
    this.#validateExemplarsOfSeries(end);
  }

  #validateSeries(end: number, at: number): void {
    const reader = this.#reader;
    const { samples, histograms, exemplars } = this.counts;
    this.#hasMetadata = false;
    this.#beginLabels();
    while (reader.position < end) {
      const tag = reader.readTag(end);
      if (tag === 0x08 || tag === 0x0a) this.#readLabels(tag, end);
      else this.#validateField(tag, end);
    }
    this.#endLabels(at, true);
    const sampleCount = this.counts.samples - samples;
    const histogramCount = this.counts.histograms - histograms;
    if (sampleCount > 0 && histogramCount > 0) {
      throw new PermanentError('bad-series', 'a series has both samples and histograms', { position: at });
    }
    if (sampleCount === 0 && histogramCount === 0 && this.counts.exemplars === exemplars && !this.#hasMetadata) {
      const message = 'a series has no sample, no histogram, no exemplar and no metadata';
      throw new PermanentError('bad-series', message, { position: at });
    }
  }

  #validateField(tag: number, end: number): void {
    const reader = this.#reader;
    if (tag === 0x12) this.counts.samples++;
    else if (tag === 0x1a) {
      const histogramEnd = reader.readLengthEnd(end);
      this.counts.histograms++;
      this.#histograms.requireValid(reader.position, histogramEnd);
      reader.position = histogramEnd;
      return;
    } else if (tag === 0x2a) {
      this.#hasMetadata = true;
      this.#validateMetadata(reader.readLengthEnd(end));
      return;
    }
    if (tag === 0x22) this.counts.exemplars++;
    reader.skip(tag, end);
  }

  /** Validates the exemplars' references in a second pass, since the labels of the series may follow them. */
  validateExemplars(end: number): void {
    const reader = this.#reader;
    reader.position = 0;
    while (reader.position < end) {
      const tag = reader.readTag(end);
      if (tag !== 0x2a) {
        reader.skip(tag, end);
        continue;
      }
      this.#validateExemplarsOfSeries(reader.readLengthEnd(end));
    }
  }

  #validateExemplarsOfSeries(end: number): void {
    const reader = this.#reader;
    while (reader.position < end) {
      const tag = reader.readTag(end);
      if (tag === 0x22) this.#validateExemplar(reader.readLengthEnd(end));
      else reader.skip(tag, end);
    }
  }

  #validateExemplar(end: number): void {
    const reader = this.#reader;
    const at = reader.position;
    this.#beginLabels();
    while (reader.position < end) {
      const tag = reader.readTag(end);
      if (tag === 0x08 || tag === 0x0a) this.#readLabels(tag, end);
      else reader.skip(tag, end);
    }
    this.#endLabels(at, false);
  }

  #validateMetadata(end: number): void {
    const reader = this.#reader;
    while (reader.position < end) {
      const at = reader.position;
      const tag = reader.readTag(end);
      if (tag === 0x18 || tag === 0x20) this.#symbols.requireSymbol(reader.readVarint(end), at);
      else reader.skip(tag, end);
    }
  }

  #beginLabels(): void {
    this.#names.reset();
    this.#referenceCount = 0;
  }

  /** Label references are packed or separate fields. References at even positions are names, the others values. */
  #readLabels(tag: number, end: number): void {
    const reader = this.#reader;
    const last = tag === 0x0a ? reader.readLengthEnd(end) : reader.position + 1;
    while (reader.position < last) {
      const at = reader.position;
      const ref = reader.readVarint(end);
      this.#symbols.requireSymbol(ref, at);
      if (this.#referenceCount++ % 2 === 0) this.#names.add(this.#symbols.getStart(ref), this.#symbols.getEnd(ref), at);
      else if (this.#names.isMetricName && this.#symbols.getStart(ref) === this.#symbols.getEnd(ref))
        this.#names.removeMetricName();
    }
  }

  #endLabels(at: number, requiresMetricName: boolean): void {
    if (this.#referenceCount % 2 !== 0) {
      throw new PermanentError('bad-labels', 'a label has a name but no value', { position: at });
    }
    this.#names.requireValid(at, requiresMetricName);
  }
}

/** Validators of the contents of a request whose wire format is valid. */
const validators = { 1: WriteRequestV1Validator, 2: WriteRequestV2Validator } as const;
const versions = {
  1: { schema: writeRequestSchema, request: writeRequest },
  2: { schema: writeRequest2Schema, request: writeRequest2 },
} as const;

/**
 * Validates a decompressed remote-write body (1: `prometheus.WriteRequest`, 2: `io.prometheus.write.v2.Request`) and
 * counts its contents. Throws `PermanentError` with the reason (`malformed`, `bad-utf8`, `bad-labels`, `bad-symbols`,
 * `bad-series`, `bad-histogram`, `bad-time`; with `times` also those of `findTimeProblem`) and the byte position.
 */
export const scanWriteRequest = (version: 1 | 2, body: Uint8Array, times?: TimeRange): WriteRequestCounts => {
  const { schema, request } = versions[version];
  new WireScanner(schema, body, times).scan(request, 0, body.length);
  const validator = new validators[version](body);
  validator.validateRequest(body.length);
  if (validator instanceof WriteRequestV2Validator && validator.counts.exemplars > 0)
    validator.validateExemplars(body.length);
  return validator.counts;
};

/** Series, and the samples and histograms in them. */
const createSeparableRequest = (version: 1 | 2, sampleFields: readonly number[]): SplittableMessage => {
  const series = getMessageNumber(versions[version].schema, 'TimeSeries');
  const samples = { message: series, fields: new Map(sampleFields.map((field) => [field, undefined])) };
  const { message, fields } = schemasByVersion[version].cuttable;
  return { message, fields: new Map([...fields.keys()].map((field) => [field, field === 3 ? undefined : samples])) };
};
const separableRequests = { 1: createSeparableRequest(1, [2, 4]), 2: createSeparableRequest(2, [2, 3]) } as const;

/** Returns the position of content that remote-write does not know, in a request without samples: see `findUnknownField`. */
export const findUnknownWriteContent = (version: 1 | 2, body: Uint8Array): number | undefined =>
  findUnknownField(versions[version].schema, separableRequests[version], body);

/** Separates the series and samples of a request that did not pass `scanWriteRequest`: see `separateRecords`. */
export const separateWriteRequest = (
  version: 1 | 2,
  body: Uint8Array,
  times?: TimeRange,
): SeparatedRequest | undefined => {
  const { schema, request } = versions[version];
  const scanner = new WireScanner(schema, body, times);
  const validator = new validators[version](body);
  const series = getMessageNumber(schema, 'TimeSeries');
  const reader = new WireReader(body);
  const checks: RecordChecks = {
    checkFields(message, start, end) {
      scanner.scan(message, start, end);
      if (message !== request) return;
      reader.position = start;
      const tag = reader.readTag(end);
      if (version === 1) requireVersion1(tag, start);
      else requireVersion2(tag, start);
    },
    checkMessage(message, start, end) {
      if (message === series) validator.validateSeriesAt(start, end);
    },
  };
  return separateRecords(separableRequests[version], body, checks);
};
