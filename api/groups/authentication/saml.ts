/** SAML is not supported. Its routes return 501 and are not published. */
import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { type DeclaredOperation, defineOperation, type Method } from '../../kernel/operation.ts';

const defineUnsupported = (method: Method, path: string, operationId: string): DeclaredOperation =>
  defineOperation({
    method,
    path,
    operationId,
    summary: 'Return 501: SAML is not supported',
    role: 'none',
    hidden: true,
    built: false,
    auditExemption: 'read-only',
    response: z.strictObject({}),
    handler: (): Promise<Record<string, never>> =>
      Promise.reject(
        new ApiError('NOT_IMPLEMENTED', 'SAML is not supported; sign in with OpenID Connect or a password'),
      ),
  });

export const samlOperations: readonly DeclaredOperation[] = [
  defineUnsupported('GET', '/auth/sso/saml/login', 'startSamlLogin'),
  defineUnsupported('POST', '/auth/sso/saml/acs', 'finishSamlLogin'),
  defineUnsupported('GET', '/auth/sso/saml/metadata', 'getSamlMetadata'),
];
