/** What the platform writes to people about their place in it. */
import type { Settings } from '../../../schemas/settings.ts';
import { type Letter, plainName } from '../../mail/letter.ts';
import { linkTo } from '../../mail/links.ts';

type Addresses = Pick<Settings, 'PUBLIC_URL' | 'HTTP_ADDRESS'>;

export const invitationLetter = (
  settings: Addresses,
  told: {
    readonly to: string;
    readonly organization: string;
    readonly invitedBy: string;
    readonly role: string;
    readonly token: string;
    readonly days: number;
  },
): Letter => {
  const organization = plainName(told.organization);
  return {
    to: told.to,
    subject: `You are invited to ${organization} on OIQ`,
    paragraphs: [
      `${plainName(told.invitedBy)} invites you to the organization “${organization}” on OIQ, as ${told.role}.`,
      `The link can be used once, within ${told.days} days. If you expected no invitation, ignore this message.`,
    ],
    link: { text: 'Accept the invitation', url: linkTo(settings, 'accept-invite', told.token) },
  };
};

export const resetLetter = (settings: Addresses, to: string, token: string): Letter => ({
  to,
  subject: 'Choose a new password for OIQ',
  paragraphs: [
    'Somebody, you we hope, asked for a new password for this address on OIQ.',
    'The link can be used once, within an hour. If it was not you, ignore this message: nothing changes.',
  ],
  link: { text: 'Choose a new password', url: linkTo(settings, 'reset-password', token) },
});

/** To those whose identity another system proves. */
export const noPasswordLetter = (settings: Addresses, to: string): Letter => ({
  to,
  subject: 'Signing in to OIQ',
  paragraphs: [
    'Somebody, you we hope, asked for a new password for this address on OIQ.',
    'You have none here: you sign in through your organization’s identity provider.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

export const changedPasswordLetter = (settings: Addresses, to: string): Letter => ({
  to,
  subject: 'Your password for OIQ was changed',
  paragraphs: [
    'The password for this address on OIQ was changed, and every session was ended.',
    'If it was not you, ask for a new password at once and tell an Owner of your organization.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

export const registrationLetter = (settings: Addresses, to: string, organization: string, token: string): Letter => ({
  to,
  subject: 'Confirm your address for OIQ',
  paragraphs: [
    `Somebody, you we hope, wants to have the organization “${plainName(organization)}” on OIQ with this address.`,
    'The link can be used once, within a day. If it was not you, ignore this message: nothing is made.',
  ],
  link: { text: 'Confirm and choose a password', url: linkTo(settings, 'accept-invite', token) },
});

export const knownAddressLetter = (settings: Addresses, to: string): Letter => ({
  to,
  subject: 'You have an account on OIQ',
  paragraphs: [
    'Somebody, you we hope, wanted to register this address on OIQ. It is registered already.',
    'Sign in, or ask for a new password there if you forgot it.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

/** What happened to how somebody signs in, as a sentence: if it was not them, they must hear of it. */
export const signInChangedLetter = (settings: Addresses, to: string, happened: string): Letter => ({
  to,
  subject: 'How you sign in to OIQ was changed',
  paragraphs: [
    happened,
    'If it was not you, change your password at once, look at your sessions, and tell an Owner of your organization.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

export const resetFactorLetter = (
  settings: Addresses,
  { to, organization, by }: { readonly to: string; readonly organization: string; readonly by: string },
): Letter => ({
  to,
  subject: 'Your second factor for OIQ was removed',
  paragraphs: [
    `${plainName(by)}, of the organization “${plainName(organization)}”, removed your second factor for OIQ. The password alone lets you in now.`,
    'Set a second factor up again after you signed in. If you did not ask for this, tell an Owner of your organization.',
  ],
  link: { text: 'Sign in', url: linkTo(settings, 'login') },
});

export const closedLetter = (
  settings: Addresses,
  told: {
    readonly to: string;
    readonly organization: string;
    readonly organizationId: string;
    readonly by: string;
    readonly eraseAt: string;
  },
): Letter => ({
  to: told.to,
  subject: `The organization ${plainName(told.organization)} on OIQ was closed`,
  paragraphs: [
    `${plainName(told.by)} closed the organization “${plainName(told.organization)}” (${told.organizationId}). Nobody can reach it any more.`,
    `Its data is erased after ${told.eraseAt.slice(0, 10)}. Until then whoever operates the installation can open it again: oiq organization reopen ${told.organizationId}`,
  ],
  link: { text: 'OIQ', url: linkTo(settings, '') },
});
