import { isWellFormedLicenseKey } from '../../../schemas/license-key-format.ts';
import type { Plan } from '../../../schemas/resources/plan.ts';
import { parseNetworks } from '../../../schemas/source-address.ts';
import type { Signal } from '../../../schemas/telemetry-signals.ts';
import type { FoundKey } from './doctor-reads.ts';
import { createHint, createProblem, type Finding } from './finding.ts';

const prefix = 'oiq_lk_';

/** The finding for a text that cannot be a license key; undefined if it can be one. Performs no lookup. */
export const checkKeyFormat = (text: string): Finding | undefined => {
  if (text.startsWith('oiq_sa_'))
    return createProblem(
      'wrong-credential',
      'this is an API token of a service account: it is for the management API, not for sending telemetry',
      'create a license key and configure the sender with it',
    );
  if (/^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(text))
    return createProblem(
      'wrong-credential',
      'this is a session token of a signed-in user: it is for the management API, not for sending telemetry',
      'create a license key and configure the sender with it',
    );
  if (isWellFormedLicenseKey(text)) return undefined;
  const trimmedKey = text
    .trim()
    .replace(/^(?:x-license-key\s*[:=]\s*|bearer\s+)/i, '')
    .replace(/^["'`]|["'`]$/g, '');
  if (trimmedKey !== text && isWellFormedLicenseKey(trimmedKey))
    return createProblem(
      'malformed-key',
      'there are extra characters around the key: blanks, quotes, or the name of the header',
      `send exactly the ${trimmedKey.length} characters that start with ${prefix}`,
    );
  if (!trimmedKey.startsWith(prefix))
    return createProblem(
      'malformed-key',
      `license keys start with ${prefix}, and those of browsers with oiq_pk_`,
      'paste the key as it was shown when it was created',
    );
  return createProblem(
    'malformed-key',
    `the key’s checksum does not match: a character is missing, added or wrong (${trimmedKey.length} of 43 characters)`,
    'copy the whole key again from where you stored it; if it is lost, create or rotate one',
  );
};

export const unknownKeyFinding = createProblem(
  'unknown-key',
  'it has the format of a license key, but this organization has no such key',
  'check that it is a key of this organization and this installation; if in doubt, create a new one',
);

/** Findings from the key and the plan. `hash` is the hash of the pasted secret. */
export const checkKey = (
  { key, hash }: FoundKey,
  plan: Plan,
  { signal, source, nowMs }: { signal: Signal | undefined; source: string | undefined; nowMs: number },
): Finding[] => {
  const findings: Finding[] = [];
  if (key.revokedAt)
    findings.push(
      createProblem(
        'revoked-key',
        `this key was revoked at ${key.revokedAt}`,
        'configure the sender with another key of the project',
      ),
    );
  if (key.expiresAt && Date.parse(key.expiresAt) <= nowMs)
    findings.push(
      createProblem(
        'expired-key',
        `this key expired at ${key.expiresAt}`,
        'rotate it, or create one that expires later',
      ),
    );
  const rotatedSecret = key.previous?.find((earlierSecret) => earlierSecret.hash === hash);
  if (rotatedSecret !== undefined) findings.push(createRotatedFinding(rotatedSecret, nowMs));
  if (signal !== undefined && !key.signals.includes(signal))
    findings.push(
      createProblem(
        'signal-not-on-key',
        `this key may not send ${signal}`,
        `add ${signal} to the key’s signals, or use another key`,
      ),
    );
  if (signal !== undefined && !plan.entitlements.includes(signal))
    findings.push(
      createProblem(
        'signal-not-on-plan',
        `the plan ${plan.name} does not include ${signal}`,
        'change the plan, or send other signals',
      ),
    );
  return [...findings, ...checkAddress(key.allowedCidrs ?? [], source)];
};

const createRotatedFinding = (
  { rotatedAt, validUntil }: { readonly rotatedAt: string; readonly validUntil: string },
  nowMs: number,
): Finding => {
  const action = 'configure the sender with the new key that was shown when it was rotated';
  return Date.parse(validUntil) <= nowMs
    ? createProblem('rotated-key', `this key was rotated at ${rotatedAt} and worked until ${validUntil}`, action)
    : createHint('rotated-key', `this key was rotated at ${rotatedAt} and works until ${validUntil}`, action);
};

const checkAddress = (allowedCidrs: readonly string[], source: string | undefined): Finding[] => {
  if (allowedCidrs.length === 0) return [];
  const networks = allowedCidrs.join(', ');
  if (source === undefined)
    return [
      createHint(
        'address-restricted',
        `this key is accepted from ${networks} only`,
        'set “source” to the IP address of the sender as OIQ sees it (behind NAT, the address of the gateway)',
      ),
    ];
  if (parseNetworks(allowedCidrs).contains(source)) return [];
  return [
    createProblem(
      'blocked-address',
      `this key is accepted from ${networks} only, which does not include ${source}`,
      'add the sender’s network to the key’s allowed networks; behind a proxy, check OIQ_TRUSTED_PROXIES',
    ),
  ];
};
