/** Browser, operating system and kind of device of a user agent. */
import Bowser from 'bowser';
import { type deviceTypes, rumLimits } from '../../schemas/rum.ts';
import { TextCache } from '../errors/text-cache.ts';

export interface UserAgent {
  readonly browser: string;
  readonly browserVersion: string;
  readonly os: string;
  readonly osVersion: string;
  readonly device: (typeof deviceTypes)[number] | '';
}

const maxLength = 512;
const userAgents = new TextCache<UserAgent>(500_000);

const limit = (text: string | undefined): string => (text ?? '').slice(0, rumLimits.name);

/** Returns the kind of device by its name in any form. */
export const toDeviceType = (type: string): UserAgent['device'] => {
  const name = type.toLowerCase();
  if (name === '') return '';
  return name === 'desktop' || name === 'mobile' || name === 'tablet' ? name : 'other';
};

const parse = (text: string): UserAgent => {
  const { browser, os, platform } = Bowser.parse(text);
  return {
    browser: limit(browser.name),
    browserVersion: limit(browser.version),
    os: limit(os.name),
    // The version of Windows is that of its kernel.
    osVersion: limit(os.name === 'Windows' ? os.versionName : os.version),
    device: toDeviceType(platform.type ?? ''),
  };
};

const maxDescriptionLength = 64;

/** Describes a user agent: `Chrome 141 on Linux`, or the start of a user agent that is not a browser's. */
export const describeUserAgent = (text: string): string => {
  const { browser, browserVersion, os } = parse(text.slice(0, maxLength));
  if (browser === '') return text.slice(0, maxDescriptionLength);
  const majorVersion = browserVersion.split('.')[0] ?? '';
  return [browser, majorVersion, ...(os === '' ? [] : ['on', os])].filter((part) => part !== '').join(' ');
};

/** Returns the parts of a user agent; `undefined` if it is empty. */
export const parseUserAgent = (text: string): UserAgent | undefined => {
  if (text === '') return undefined;
  const userAgent = text.slice(0, maxLength);
  return userAgents.getOrCreate(userAgent, () => parse(userAgent));
};
