import { generateSecret, generateURI } from 'otplib';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { personOf } from '../../identity/caller.ts';
import { sealedFor } from '../../identity/multi-factor-codes.ts';
import { ApiError } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const enrollMultiFactor = defineOperation({
  method: 'POST',
  path: '/auth/mfa/enroll',
  operationId: 'enrollMultiFactor',
  summary: 'Create a TOTP secret, with its otpauth URI and QR code; it takes effect when its first code is confirmed',
  role: 'session',
  audit: 'multi-factor.enroll',
  response: z.strictObject({
    secret: z.string().describe('Base32, to type in; shown only once'),
    uri: z.string().describe('otpauth://'),
    qrCode: z.string().describe('QR code of the URI: an SVG image as a data: URI'),
  }),
  async handler({ caller, change }, { secretBox }) {
    const { user, provedBy } = personOf(caller);
    // One organization's provider must not decide how the user signs in to the others.
    if (provedBy !== undefined)
      throw new ApiError(
        'FORBIDDEN',
        'this session began at an identity provider, whose second factor counts; sign in with the password to set one up here',
      );
    const secret = generateSecret();
    await change(async ({ of, record }) => {
      const enrolments = of(multiFactorsTenant).collection(multiFactors);
      const before = await enrolments.find(user.id);
      if (before?.confirmedAt)
        throw new ApiError('CONFLICT', 'multi-factor is on; turn it off before you enroll another authenticator');
      const pending = {
        secret: secretBox.seal(sealedFor(user.id), secret),
        ...{ confirmedAt: null, lastTimeStep: 0, recoveryCodes: [] },
      };
      if (before === undefined) await enrolments.insert({ id: user.id, ...pending });
      else await enrolments.replace(user.id, pending, before.version);
      record({ id: user.id, name: user.email });
    });
    const uri = generateURI({ issuer: 'OIQ', label: user.email, secret });
    const picture = Buffer.from(renderSVG(uri, { border: 2 })).toString('base64');
    return { secret, uri, qrCode: `data:image/svg+xml;base64,${picture}` };
  },
});
