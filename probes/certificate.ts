import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { StepCertificate } from '../schemas/synthetic-runs.ts';
import type { Observation } from '../subjects/synthetics/assertions.ts';

const dayMs = 86_400_000;

const parseName = (entry: string): string => entry.replace(/^(?:DNS|IP Address):/, '').replace(/^"|"$/g, '');

type Certificate = NonNullable<Observation['certificate']>;

const formatTarget = (host: string, port: number | undefined): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port ?? ''}`;

/** The certificate of a server; undefined if it sent none. `host` is the requested host. */
export const readCertificate = (socket: TLSSocket, host: string): Certificate | undefined => {
  const certificate = socket.getPeerCertificate();
  // Without a certificate there is an empty object.
  if (certificate.valid_to === undefined) return undefined;
  const { subjectaltname = '', subject, issuer } = certificate;
  const names = subjectaltname === '' ? [subject?.CN ?? []].flat() : subjectaltname.split(', ').map(parseName);
  const expiresAtMs = Date.parse(certificate.valid_to);
  return {
    target: formatTarget(host, socket.remotePort),
    expiresAtMs,
    daysLeft: Math.floor((expiresAtMs - Date.now()) / dayMs),
    commonName: [subject?.CN ?? []].flat().join(', '),
    issuer: Object.entries(issuer ?? {})
      .map(([name, value]) => `${name}=${[value].flat().join('+')}`)
      .join(', '),
    names,
  };
};

/** Maximum number of reported names; all are checked. */
const maxNames = 50;

/**
 * Returns the certificate in the form of a run report. Its texts come from a server and may have any length. Returns an
 * empty object if the certificate's expiry is not a valid time.
 */
export const toStepCertificate = (
  { target, expiresAtMs, issuer, commonName, names }: Certificate,
  redact: (text: string) => string,
): { readonly certificate?: StepCertificate } => {
  if (!Number.isSafeInteger(expiresAtMs)) return {};
  const redactAndTruncate = (text: string, maxLength: number): string => redact(text).slice(0, maxLength);
  return {
    certificate: {
      target: redactAndTruncate(target, 300),
      expiresAtMs,
      issuer: redactAndTruncate(issuer, 1024),
      commonName: redactAndTruncate(commonName, 256),
      names: names.slice(0, maxNames).map((name) => redactAndTruncate(name, 256)),
    },
  };
};
