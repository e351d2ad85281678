/** Parses indicators from MISP: an event, or a list of events, from its API and feeds */
import type { GivenIndicator, IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { type Fields, fieldsOf, isFields, objectsIn, textOf } from './fields.ts';
import { defaultConfidence, givenIndicator, normalised, type ReadIndicators, timeOf } from './indicator.ts';

/** Indicator types by MISP type; for composite types (`filename|sha256`), one per part */
const typesOf: Readonly<Record<string, IndicatorType>> = {
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

const tagsOf = (tags: unknown): string[] => objectsIn(tags).flatMap(({ name }) => textOf(name) || []);

const eventsOf = (given: unknown): Fields[] =>
  objectsIn(Array.isArray(given) ? given : [fieldsOf(given)['response'] ?? given].flat()).map((each) =>
    isFields(each['Event']) ? each['Event'] : each,
  );

/** Returns the type and value of each part: `evil.exe|d41d…` is a name and a hash. A port alone is not an indicator. */
const partsOf = ({ type, value }: Fields): { type: IndicatorType; value: string }[] => {
  const values = textOf(value).split('|');
  return textOf(type)
    .split('|')
    .flatMap((part, index) => {
      const own = typesOf[part];
      const text = values[index];
      if (own === undefined || text === undefined) return [];
      const network = own === 'ip' && text.includes('/') ? normalised('network', text) : undefined;
      const written = network ?? normalised(own, text);
      return written === undefined ? [] : [{ type: network === undefined ? own : 'network', value: written }];
    });
};

const moreOf = (event: Fields, attribute: Fields): Partial<GivenIndicator> => {
  return {
    name: textOf(event['info']).slice(0, 256),
    description: textOf(attribute['comment']).slice(0, 4096),
    tags: [...new Set([...tagsOf(event['Tag']), ...tagsOf(attribute['Tag'])])].slice(0, 64),
    validFrom: timeOf(attribute['first_seen']),
    isRevoked: attribute['deleted'] === true,
    givenId: textOf(attribute['uuid']).slice(0, 256),
  };
};

/**
 * Returns attributes that MISP marks for detection (`to_ids`); the others are context and are omitted. Deleted
 * attributes are revoked.
 */
export const readMisp = (given: unknown, confidence = defaultConfidence): ReadIndicators => {
  const indicators: GivenIndicator[] = [];
  const refused: { at: string; message: string }[] = [];
  for (const event of eventsOf(given)) {
    const ofObjects = objectsIn(event['Object']).flatMap((object) => objectsIn(object['Attribute']));
    const attributes = [...objectsIn(event['Attribute']), ...ofObjects];
    for (const attribute of attributes.filter(({ to_ids: isFit }) => isFit === true)) {
      const parts = partsOf(attribute);
      for (const { type, value } of parts)
        indicators.push(givenIndicator(type, value, { confidence, ...moreOf(event, attribute) }));
      if (parts.length > 0) continue;
      const value = textOf(attribute['value']);
      refused.push({
        at: textOf(attribute['uuid']) || value.slice(0, 100),
        message: `${textOf(attribute['type'])} ${JSON.stringify(value)} cannot be matched`,
      });
    }
  }
  return { indicators, refused };
};
