import type { TLSSocket } from 'node:tls';
import type { Observation } from '../subjects/synthetics/assertions.ts';

const dayMs = 86_400_000;

const nameOf = (entry: string): string => entry.replace(/^(?:DNS|IP Address):/, '').replace(/^"|"$/g, '');

/** What a server's certificate says; nothing where it sent none. */
export const certificateOf = (
  socket: TLSSocket,
  nowMs: number,
): NonNullable<Observation['certificate']> | undefined => {
  const certificate = socket.getPeerCertificate();
  // Without a certificate there is an empty object.
  if (certificate.valid_to === undefined) return undefined;
  const { subjectaltname = '', subject, issuer } = certificate;
  const names = subjectaltname === '' ? [subject?.CN ?? []].flat() : subjectaltname.split(', ').map(nameOf);
  return {
    daysLeft: Math.floor((Date.parse(certificate.valid_to) - nowMs) / dayMs),
    issuer: Object.entries(issuer ?? {})
      .map(([name, value]) => `${name}=${[value].flat().join('+')}`)
      .join(', '),
    names,
  };
};
