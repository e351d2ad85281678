/** Parses indicators from MISP: an event, or a list of events, from its API and feeds */

import { type Fields, isFields, toFields } from '../../runtime/fields.ts';
import type { IndicatorType, SourceIndicator } from '../../schemas/resources/threat-intel.ts';
import { toTextOrEmpty } from '../../schemas/text.ts';
import { toObjects } from './fields.ts';
import {
  createIndicator,
  defaultConfidence,
  normalizeValue,
  type ParsedIndicators,
  parseFeedTime,
} from './indicator.ts';

/** Indicator types by MISP type; for composite types (`filename|sha256`), one per part */
const typesByMispType: Readonly<Record<string, IndicatorType>> = {
  'ip-src': 'ip',
  'ip-dst': 'ip',
  ip: 'ip',
  domain: 'domain',
  hostname: 'domain',
  url: 'url',
  uri: 'url',
  'email-src': 'email',
  'email-dst': 'email',
  email: 'email',
  filename: 'file-name',
  md5: 'md5',
  sha1: 'sha1',
  sha256: 'sha256',
  sha512: 'sha512',
};

const listTagNames = (tags: unknown): string[] => toObjects(tags).flatMap(({ name }) => toTextOrEmpty(name) || []);

const listEvents = (json: unknown): Fields[] =>
  toObjects(Array.isArray(json) ? json : [toFields(json)['response'] ?? json].flat()).map((object) =>
    isFields(object['Event']) ? object['Event'] : object,
  );

/** Returns the type and value of each part: `evil.exe|d41d…` is a name and a hash. A port alone is not an indicator. */
const parseParts = ({ type, value }: Fields): { type: IndicatorType; value: string }[] => {
  const values = toTextOrEmpty(value).split('|');
  return toTextOrEmpty(type)
    .split('|')
    .flatMap((part, index) => {
      const indicatorType = typesByMispType[part];
      const text = values[index];
      if (indicatorType === undefined || text === undefined) return [];
      const network = indicatorType === 'ip' && text.includes('/') ? normalizeValue('network', text) : undefined;
      const normalizedValue = network ?? normalizeValue(indicatorType, text);
      return normalizedValue === undefined
        ? []
        : [{ type: network === undefined ? indicatorType : 'network', value: normalizedValue }];
    });
};

const parseDetails = (event: Fields, attribute: Fields): Partial<SourceIndicator> => {
  return {
    name: toTextOrEmpty(event['info']).slice(0, 256),
    description: toTextOrEmpty(attribute['comment']).slice(0, 4096),
    tags: [...new Set([...listTagNames(event['Tag']), ...listTagNames(attribute['Tag'])])].slice(0, 64),
    validFrom: parseFeedTime(attribute['first_seen']),
    isRevoked: attribute['deleted'] === true,
    givenId: toTextOrEmpty(attribute['uuid']).slice(0, 256),
  };
};

/**
 * Returns attributes that MISP marks for detection (`to_ids`); the others are context and are omitted. Deleted
 * attributes are revoked.
 */
export const readMisp = (json: unknown, confidence = defaultConfidence): ParsedIndicators => {
  const indicators: SourceIndicator[] = [];
  const rejected: { at: string; message: string }[] = [];
  for (const event of listEvents(json)) {
    const objectAttributes = toObjects(event['Object']).flatMap((object) => toObjects(object['Attribute']));
    const attributes = [...toObjects(event['Attribute']), ...objectAttributes];
    for (const attribute of attributes.filter(({ to_ids: isForDetection }) => isForDetection === true)) {
      const parts = parseParts(attribute);
      for (const { type, value } of parts)
        indicators.push(createIndicator(type, value, { confidence, ...parseDetails(event, attribute) }));
      if (parts.length > 0) continue;
      const value = toTextOrEmpty(attribute['value']);
      rejected.push({
        at: toTextOrEmpty(attribute['uuid']) || value.slice(0, 100),
        message: `${toTextOrEmpty(attribute['type'])} ${JSON.stringify(value)} cannot be matched`,
      });
    }
  }
  return { indicators, rejected: rejected };
};
