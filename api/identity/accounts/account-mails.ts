/** Mails about accounts: invitations, passwords, sign-in, closed organizations. */
import type { Settings } from '../../../schemas/settings.ts';
import { linkTo } from '../../mail/links.ts';
import { type MailDraft, plainName } from '../../mail/mail-text.ts';

type Addresses = Pick<Settings, 'PUBLIC_URL' | 'HTTP_ADDRESS'>;

export const invitationMail = (
  settings: Addresses,
  facts: {
    readonly to: string;
    readonly organization: string;
    readonly invitedBy: string;
    readonly role: string;
    readonly token: string;
    readonly days: number;
  },
): MailDraft => {
  const organization = plainName(facts.organization);
  return {
    to: facts.to,
    subject: `You are invited to ${organization} on OIQ`,
    paragraphs: [
      `${plainName(facts.invitedBy)} invited you to the organization “${organization}” on OIQ, as ${facts.role}.`,
      `The link works once, for ${facts.days} days. If you did not expect an invitation, ignore this message.`,
    ],
    link: { text: 'Accept the invitation', url: linkTo(settings, 'accept-invite', facts.token) },
  };
};

export const passwordResetMail = (settings: Addresses, to: string, token: string): MailDraft => ({
  to,
  subject: 'Choose a new password for OIQ',
  paragraphs: [
    'Someone, hopefully you, requested a reset of the OIQ password of this address.',
    'The link works once, for an hour. If it was not you, ignore this message: your password stays as it is.',
  ],
  link: { text: 'Choose a new password', url: linkTo(settings, 'reset-password', token) },
});

/** For users who sign in through an identity provider */
export const noPasswordMail = (settings: Addresses, to: string): MailDraft => ({
  to,
  subject: 'Signing in to OIQ',
  paragraphs: [
    'Someone, hopefully you, requested a reset of the OIQ password of this address.',
    'This account has no password: sign in through your organization’s identity provider.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

export const passwordChangedMail = (settings: Addresses, to: string): MailDraft => ({
  to,
  subject: 'Your password for OIQ was changed',
  paragraphs: [
    'The OIQ password of this address was changed, and all its sessions were ended.',
    'If it was not you, reset the password at once and contact an Owner of your organization.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

export const registrationMail = (settings: Addresses, to: string, organization: string, token: string): MailDraft => ({
  to,
  subject: 'Confirm your address for OIQ',
  paragraphs: [
    `Someone, hopefully you, used this address to register the organization “${plainName(organization)}” on OIQ.`,
    'The link works once, for a day. If it was not you, ignore this message: no account is created.',
  ],
  link: { text: 'Confirm and choose a password', url: linkTo(settings, 'accept-invite', token) },
});

export const knownAddressMail = (settings: Addresses, to: string): MailDraft => ({
  to,
  subject: 'You have an account on OIQ',
  paragraphs: [
    'Someone, hopefully you, tried to register this address on OIQ. It is registered already.',
    'Sign in. If you forgot the password, you can reset it there.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

/** `happened` states in a sentence the change of the user's sign-in, so that a user who did not cause it finds out. */
export const signInChangedMail = (settings: Addresses, to: string, happened: string): MailDraft => ({
  to,
  subject: 'Your sign-in settings on OIQ were changed',
  paragraphs: [
    happened,
    'If it was not you, change your password at once, check your sessions, and contact an Owner of your organization.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

export const factorResetMail = (
  settings: Addresses,
  { to, organization, by }: { readonly to: string; readonly organization: string; readonly by: string },
): MailDraft => ({
  to,
  subject: 'Your second factor for OIQ was removed',
  paragraphs: [
    `${plainName(by)}, of the organization “${plainName(organization)}”, removed your second factor for OIQ. You can now sign in with the password alone.`,
    'After you sign in, set up a second factor again. If you did not request this, contact an Owner of your organization.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

export const organizationClosedMail = (
  settings: Addresses,
  facts: {
    readonly to: string;
    readonly organization: string;
    readonly organizationId: string;
    readonly by: string;
    readonly eraseAt: string;
  },
): MailDraft => ({
  to: facts.to,
  subject: `The organization ${plainName(facts.organization)} on OIQ was closed`,
  paragraphs: [
    `${plainName(facts.by)} closed the organization “${plainName(facts.organization)}” (${facts.organizationId}). No one can access it any more.`,
    `Its data will be erased after ${facts.eraseAt.slice(0, 10)}. Until then an operator of this installation can reopen it: oiq organization reopen ${facts.organizationId}`,
  ],
  link: { text: 'OIQ', url: linkTo(settings, '') },
});
