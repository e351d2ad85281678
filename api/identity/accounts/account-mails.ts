/** Mails about accounts: invitations, passwords, sign-in, closed organizations. */
import type { Settings } from '../../../schemas/settings.ts';
import { buildLink } from '../../mail/links.ts';
import { type MailDraft, sanitizeName } from '../../mail/mail-text.ts';

type LinkSettings = Pick<Settings, 'PUBLIC_URL' | 'HTTP_ADDRESS'>;

export const createInvitationMail = (
  settings: LinkSettings,
  details: {
    readonly to: string;
    readonly organization: string;
    readonly invitedBy: string;
    readonly role: string;
    readonly token: string;
    readonly lifetimeDays: number;
  },
): MailDraft => {
  const organization = sanitizeName(details.organization);
  return {
    to: details.to,
    subject: `You are invited to ${organization} on OIQ`,
    paragraphs: [
      `${sanitizeName(details.invitedBy)} invited you to the organization “${organization}” on OIQ, as ${details.role}.`,
      `The link works once, for ${details.lifetimeDays} days. If you did not expect an invitation, ignore this message.`,
    ],
    link: { text: 'Accept the invitation', url: buildLink(settings, 'accept-invite', details.token) },
  };
};

export const createPasswordResetMail = (settings: LinkSettings, to: string, token: string): MailDraft => ({
  to,
  subject: 'Choose a new password for OIQ',
  paragraphs: [
    'Someone, hopefully you, requested a reset of the OIQ password for this address.',
    'The link works once, for an hour. If it was not you, ignore this message: your password is not changed.',
  ],
  link: { text: 'Choose a new password', url: buildLink(settings, 'reset-password', token) },
});

/** For users who sign in through an identity provider */
export const createNoPasswordMail = (settings: LinkSettings, to: string): MailDraft => ({
  to,
  subject: 'Signing in to OIQ',
  paragraphs: [
    'Someone, hopefully you, requested a reset of the OIQ password for this address.',
    'This account has no password: sign in through your organization’s identity provider.',
  ],
  link: { text: 'Sign in', url: buildLink(settings, 'login') },
});

export const createPasswordChangedMail = (settings: LinkSettings, to: string): MailDraft => ({
  to,
  subject: 'Your password for OIQ was changed',
  paragraphs: [
    'The OIQ password for this address was changed, and all sessions of the account ended.',
    'If it was not you, reset the password immediately and contact an Owner of your organization.',
  ],
  link: { text: 'Sign in', url: buildLink(settings, 'login') },
});

export const createRegistrationMail = (
  settings: LinkSettings,
  to: string,
  organization: string,
  token: string,
): MailDraft => ({
  to,
  subject: 'Confirm your address for OIQ',
  paragraphs: [
    `Someone, hopefully you, used this address to register the organization “${sanitizeName(organization)}” on OIQ.`,
    'The link works once, for a day. If it was not you, ignore this message: no account is created.',
  ],
  link: { text: 'Confirm and choose a password', url: buildLink(settings, 'accept-invite', token) },
});

export const createExistingAccountMail = (settings: LinkSettings, to: string): MailDraft => ({
  to,
  subject: 'You have an account on OIQ',
  paragraphs: [
    'Someone, hopefully you, tried to register this address on OIQ. It is already registered.',
    'Sign in. If you forgot the password, you can reset it there.',
  ],
  link: { text: 'Sign in', url: buildLink(settings, 'login') },
});

/** Notifies a user about a change of their sign-in, which `changeText` describes in a sentence. */
export const createSignInChangedMail = (settings: LinkSettings, to: string, changeText: string): MailDraft => ({
  to,
  subject: 'Your sign-in settings on OIQ were changed',
  paragraphs: [
    changeText,
    'If it was not you, change your password immediately, check your sessions, and contact an Owner of your organization.',
  ],
  link: { text: 'Sign in', url: buildLink(settings, 'login') },
});

export const createFactorResetMail = (
  settings: LinkSettings,
  { to, organization, by }: { readonly to: string; readonly organization: string; readonly by: string },
): MailDraft => ({
  to,
  subject: 'Your second factor for OIQ was removed',
  paragraphs: [
    `${sanitizeName(by)}, of the organization “${sanitizeName(organization)}”, removed your second factor for OIQ. You can now sign in with the password alone.`,
    'After you sign in, set up a second factor again. If you did not request this, contact an Owner of your organization.',
  ],
  link: { text: 'Sign in', url: buildLink(settings, 'login') },
});

export const createOrganizationClosedMail = (
  settings: LinkSettings,
  details: {
    readonly to: string;
    readonly organization: string;
    readonly organizationId: string;
    readonly by: string;
    readonly eraseAt: string;
  },
): MailDraft => ({
  to: details.to,
  subject: `The organization ${sanitizeName(details.organization)} on OIQ was closed`,
  paragraphs: [
    `${sanitizeName(details.by)} closed the organization “${sanitizeName(details.organization)}” (${details.organizationId}). No one can access it any more.`,
    `Its data will be erased after ${details.eraseAt.slice(0, 10)}. Until then an operator of this installation can reopen it: oiq organization reopen ${details.organizationId}`,
  ],
  link: { text: 'OIQ', url: buildLink(settings, '') },
});
