/** Parses indicators from MISP: an event, or a list of events, from its API and feeds */

import { type Fields, isFields } from '../../runtime/fields.ts';
import type { IndicatorType, SourceIndicator } from '../../schemas/resources/threat-intel.ts';
import { fieldsOrEmpty, objectsOrEmpty, textOrEmpty } from './fields.ts';
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

const tagNames = (tags: unknown): string[] => objectsOrEmpty(tags).flatMap(({ name }) => textOrEmpty(name) || []);

const listEvents = (given: unknown): Fields[] =>
  objectsOrEmpty(Array.isArray(given) ? given : [fieldsOrEmpty(given)['response'] ?? given].flat()).map((each) =>
    isFields(each['Event']) ? each['Event'] : each,
  );

/** Returns the type and value of each part: `evil.exe|d41d…` is a name and a hash. A port alone is not an indicator. */
const parseParts = ({ type, value }: Fields): { type: IndicatorType; value: string }[] => {
  const values = textOrEmpty(value).split('|');
  return textOrEmpty(type)
    .split('|')
    .flatMap((part, index) => {
      const own = typesByMispType[part];
      const text = values[index];
      if (own === undefined || text === undefined) return [];
      const network = own === 'ip' && text.includes('/') ? normalizeValue('network', text) : undefined;
      const written = network ?? normalizeValue(own, text);
      return written === undefined ? [] : [{ type: network === undefined ? own : 'network', value: written }];
    });
};

const parseDetails = (event: Fields, attribute: Fields): Partial<SourceIndicator> => {
  return {
    name: textOrEmpty(event['info']).slice(0, 256),
    description: textOrEmpty(attribute['comment']).slice(0, 4096),
    tags: [...new Set([...tagNames(event['Tag']), ...tagNames(attribute['Tag'])])].slice(0, 64),
    validFrom: parseFeedTime(attribute['first_seen']),
    isRevoked: attribute['deleted'] === true,
    givenId: textOrEmpty(attribute['uuid']).slice(0, 256),
  };
};

/**
 * Returns attributes that MISP marks for detection (`to_ids`); the others are context and are omitted. Deleted
 * attributes are revoked.
 */
export const readMisp = (given: unknown, confidence = defaultConfidence): ParsedIndicators => {
  const indicators: SourceIndicator[] = [];
  const refused: { at: string; message: string }[] = [];
  for (const event of listEvents(given)) {
    const ofObjects = objectsOrEmpty(event['Object']).flatMap((object) => objectsOrEmpty(object['Attribute']));
    const attributes = [...objectsOrEmpty(event['Attribute']), ...ofObjects];
    for (const attribute of attributes.filter(({ to_ids: isFit }) => isFit === true)) {
      const parts = parseParts(attribute);
      for (const { type, value } of parts)
        indicators.push(createIndicator(type, value, { confidence, ...parseDetails(event, attribute) }));
      if (parts.length > 0) continue;
      const value = textOrEmpty(attribute['value']);
      refused.push({
        at: textOrEmpty(attribute['uuid']) || value.slice(0, 100),
        message: `${textOrEmpty(attribute['type'])} ${JSON.stringify(value)} cannot be matched`,
      });
    }
  }
  return { indicators, refused };
};
