/** Reads indicators from MISP: an event, or a list of them, as its API and feeds give them. */
import type { GivenIndicator, IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { givenIndicator, normalised, type ReadIndicators, timeOf, usualConfidence } from './indicator.ts';

interface Attribute {
  readonly uuid?: string;
  readonly type?: string;
  readonly value?: string;
  readonly comment?: string;
  readonly to_ids?: boolean;
  readonly deleted?: boolean;
  readonly first_seen?: string | null;
  readonly Tag?: readonly { readonly name?: string }[];
}

interface Event {
  readonly info?: string;
  readonly Attribute?: readonly Attribute[];
  readonly Object?: readonly { readonly Attribute?: readonly Attribute[] }[];
  readonly Tag?: readonly { readonly name?: string }[];
}

/** Types of MISP by what they are here; of a type in two parts (`filename|sha256`) each part has its own. */
const typesOf: Readonly<Record<string, IndicatorType>> = {
  ...{ 'ip-src': 'ip', 'ip-dst': 'ip', ip: 'ip', domain: 'domain', hostname: 'domain', url: 'url', uri: 'url' },
  ...{ 'email-src': 'email', 'email-dst': 'email', email: 'email', filename: 'file-name' },
  ...{ md5: 'md5', sha1: 'sha1', sha256: 'sha256', sha512: 'sha512' },
};

const tagsOf = (tags: Event['Tag']): string[] => (tags ?? []).flatMap(({ name }) => (name ? [name] : []));

const eventsOf = (given: unknown): Event[] => {
  const list = Array.isArray(given) ? given : [(given as { response?: unknown })?.response ?? given].flat();
  return list.flatMap((each) => {
    const event = (each as { Event?: Event } | null)?.Event ?? (each as Event | null);
    return typeof event === 'object' && event !== null ? [event] : [];
  });
};

/** Type and value of each part: `evil.exe|d41d…` is a name and a hash. A port says nothing by itself. */
const partsOf = ({ type = '', value = '' }: Attribute): { type: IndicatorType; value: string }[] => {
  const values = value.split('|');
  return type.split('|').flatMap((part, index) => {
    const own = typesOf[part];
    const text = values[index];
    if (own === undefined || text === undefined) return [];
    const network = own === 'ip' && text.includes('/') ? normalised('network', text) : undefined;
    const written = network ?? normalised(own, text);
    return written === undefined ? [] : [{ type: network === undefined ? own : 'network', value: written }];
  });
};

const moreOf = (event: Event, attribute: Attribute): Partial<GivenIndicator> => {
  return {
    name: String(event.info ?? '').slice(0, 256),
    description: String(attribute.comment ?? '').slice(0, 4096),
    tags: [...new Set([...tagsOf(event.Tag), ...tagsOf(attribute.Tag)])].slice(0, 64),
    validFrom: timeOf(attribute.first_seen),
    isRevoked: attribute.deleted === true,
    givenId: String(attribute.uuid ?? '').slice(0, 256),
  };
};

/** Attributes that MISP marks as fit for detection (`to_ids`); the others are context, and are left out. Those that were deleted are revoked. */
export const readMisp = (given: unknown, confidence = usualConfidence): ReadIndicators => {
  const indicators: GivenIndicator[] = [];
  const refused: { at: string; message: string }[] = [];
  for (const event of eventsOf(given)) {
    const attributes = [
      ...(event.Attribute ?? []),
      ...(event.Object ?? []).flatMap((object) => object.Attribute ?? []),
    ];
    for (const attribute of attributes.filter((each) => each.to_ids === true)) {
      const parts = partsOf(attribute);
      for (const { type, value } of parts)
        indicators.push(givenIndicator(type, value, { confidence, ...moreOf(event, attribute) }));
      if (parts.length > 0) continue;
      const { uuid, type, value = '' } = attribute;
      refused.push({
        at: uuid ?? value.slice(0, 100),
        message: `${type} ${JSON.stringify(value)} is nothing that is matched`,
      });
    }
  }
  return { indicators, refused };
};
