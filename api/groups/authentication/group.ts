import { defineGroup } from '../define-group.ts';
import { acceptInvite, register } from './join.ts';
import { login } from './login.ts';
import { confirmMultiFactor, enrollMultiFactor, renewRecoveryCodes, turnMultiFactorOff } from './multi-factor.ts';
import { finishOidc, startOidc } from './oidc.ts';
import { changePassword, forgotPassword, resetPassword } from './password.ts';
import { samlOperations } from './saml.ts';
import { currentSession, endSession, jwks, listSessions, logout, refresh, switchTenant } from './sessions.ts';

export const authenticationGroup = defineGroup({
  name: 'authentication',
  summary: 'Sign in and out, sessions, passwords, second factors and single sign-on.',
  operations: [
    login,
    refresh,
    logout,
    currentSession,
    listSessions,
    endSession,
    switchTenant,
    changePassword,
    forgotPassword,
    resetPassword,
    register,
    acceptInvite,
    jwks,
    enrollMultiFactor,
    confirmMultiFactor,
    renewRecoveryCodes,
    turnMultiFactorOff,
    startOidc,
    finishOidc,
    ...samlOperations,
  ],
});
