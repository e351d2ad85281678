/** Finds secrets in the texts of a record. */
import { getFingerprintKey } from '../../runtime/fingerprint-key.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import type { Attribute } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { Span } from '../../schemas/records/span.ts';
import type { SecretFinding } from '../../schemas/secret-findings.ts';
import { truncateText } from '../../schemas/text.ts';
import { computeFingerprint, createPreview, hashOwnKey } from '../../subjects/secrets/finding.ts';
import { findRedactions } from '../../subjects/secrets/redaction.ts';
import { findSecrets } from '../../subjects/secrets/scan.ts';

/** A text of a record, and the name of its attribute, if it has one */
interface RecordText {
  readonly field: string;
  readonly name: string;
  readonly text: string;
}

/** What a finding has of its secret */
type FoundSecret = Pick<
  SecretFinding,
  'field' | 'rule' | 'fingerprint' | 'preview' | 'keyHash' | 'occurrences' | 'isRedacted'
>;

const maxFieldLength = 256;

/** Attributes with the path of the file that a log is from */
const fileAttributes = ['log.file.path', 'file.path', 'code.file.path', 'code.filepath'];

const toTexts = (attributes: Iterable<Attribute>, prefix: string): RecordText[] =>
  Array.from(attributes, ({ key, text }) => ({ field: `${prefix}${key}`, name: key, text }));

export const listLogTexts = (record: LogRecord): RecordText[] => [
  { field: 'body', name: '', text: record.body },
  ...toTexts(record.attributes, 'attribute.'),
];

export const listSpanTexts = (span: Span): RecordText[] => [
  { field: 'name', name: '', text: span.name },
  { field: 'statusMessage', name: '', text: span.statusMessage },
  ...toTexts(span.attributes, 'attribute.'),
  ...span.events.flatMap((event) => toTexts(event.attributes, 'event.')),
];

const findInTexts = (texts: readonly RecordText[], tenantId: string, file: string): FoundSecret[] => {
  const foundSecrets = new Map<string, FoundSecret>();
  const add = (secret: Omit<FoundSecret, 'occurrences'>): void => {
    const key = `${secret.field}\n${secret.rule}\n${secret.fingerprint}`;
    foundSecrets.set(key, { ...secret, occurrences: (foundSecrets.get(key)?.occurrences ?? 0) + 1 });
  };
  for (const { field: fullField, name, text } of texts) {
    const field = truncateText(fullField, maxFieldLength);
    for (const match of findSecrets(text, name, file))
      add({
        field,
        rule: match.rule.id,
        fingerprint: computeFingerprint(getFingerprintKey(), tenantId, match.secret),
        preview: createPreview(match.secret),
        keyHash: hashOwnKey(match),
        isRedacted: false,
      });
    for (const { ruleId, fingerprint } of findRedactions(text))
      add({ field, rule: ruleId, fingerprint, preview: '', keyHash: '', isRedacted: true });
  }
  return [...foundSecrets.values()];
};

/** Secrets in the attributes of resources, which all records of a resource share */
const resourceSecrets = new WeakMap<ReadonlyMap<string, Attribute>, readonly FoundSecret[]>();

const findInResource = ({ resourceAttributes, tenantId }: LogRecord | Span): readonly FoundSecret[] => {
  let secrets = resourceSecrets.get(resourceAttributes);
  if (secrets === undefined) {
    secrets = findInTexts(toTexts(resourceAttributes.values(), 'resource.'), tenantId, '');
    resourceSecrets.set(resourceAttributes, secrets);
  }
  return secrets;
};

/** Where a record is found again */
type RecordReference = Pick<SecretFinding, 'signal' | 'recordId' | 'traceId' | 'spanId'>;

/** Returns the secrets in a record and its resource. Texts are read only if the bytes of the record may have one. */
export const findRecordSecrets = <Item extends LogRecord | Span>(
  record: Item,
  {
    mayContainSecret,
    listTexts,
    getReference,
  }: {
    readonly mayContainSecret: (bytes: Uint8Array, from: number, to: number) => boolean;
    readonly listTexts: (record: Item) => readonly RecordText[];
    readonly getReference: (record: Item) => RecordReference;
  },
): SecretFinding[] => {
  const inResource = findInResource(record);
  const mayContain = record.inspectBytes(mayContainSecret);
  if (inResource.length === 0 && !mayContain) return [];
  const { tenantId, projectId, service, timeMs } = record;
  const file = fileAttributes.map((name) => record.getAttribute(name)).find((path) => path !== undefined) ?? '';
  const secrets = mayContain ? findInTexts(listTexts(record), tenantId, file) : [];
  if (inResource.length + secrets.length === 0) return [];
  const reference = getReference(record);
  return [...inResource, ...secrets].map((secret) => {
    const findingId = computeHashId('secret', projectId, service, secret.field, secret.rule, secret.fingerprint);
    const { topic, partition, offset, ordinal } = record.location;
    const id = computeHashId(findingId, topic, partition, offset, ordinal);
    return { ...secret, ...reference, tenantId, projectId, id, findingId, timeMs, service };
  });
};
