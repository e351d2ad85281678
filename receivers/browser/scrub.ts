/** Removes personal data from the telemetry of browsers before the request is published. */
import type { BrowserPrivacy } from '../../schemas/browser-privacy.ts';
import type { RequestRewriter } from '../../schemas/otlp/rewrite.ts';
import { removeCredentials, removeFragments, replaceEmails, replaceQueries } from './sensitive-text.ts';

/** Attributes with the address of the client. */
const clientAddressKeys = new Set([
  'client.address',
  'client.ip',
  'client.port',
  'client.socket.address',
  'client_ip',
  'host.ip',
  'http.client_ip',
  'ip',
  'ip_address',
  'net.host.ip',
  'net.peer.ip',
  'net.sock.peer.addr',
  'network.local.address',
  'network.peer.address',
  'remote_addr',
  'source.address',
  'user.ip',
  'user.ip_address',
  'x-forwarded-for',
]);
/** Attributes with names of users. User ids are stored. */
const userNameKeys = new Set([
  'enduser.name',
  'user.display_name',
  'user.displayName',
  'user.full_name',
  'user.fullName',
  'user.name',
  'user.username',
  'user_name',
  'userName',
  'user_fullName',
  'user_username',
  'username',
]);
const emailKeys = new Set(['enduser.email', 'email', 'user.email', 'user_email', 'userEmail']);
/** Attributes that are the query or the fragment of a URL, without its `?` or `#`. */
const queryKeys = new Set(['url.query', 'http.query', 'location.search', 'url.search']);
const fragmentKeys = new Set(['url.fragment', 'http.fragment', 'location.hash', 'url.hash']);

const urlPattern = /\b(?:https?|wss?|blob|file):[^\s"'<>]{3,}/i;

/** Returns a query string with the allowed parameters only; an empty string if none is left. */
const filterQuery = (query: string, allowedNames: ReadonlySet<string>): string =>
  query
    .split(/[&;]/)
    .filter((pair) => {
      const equals = pair.indexOf('=');
      return allowedNames.has(decodeName(equals < 0 ? pair : pair.slice(0, equals)));
    })
    .join('&');

const decodeName = (name: string): string => {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
};

const isUrlPath = (path: string): boolean =>
  /(?:^|[._-])(?:url|uri|href|target|referrer|referer|path|location|src|page|link)(?:$|[._-])/i.test(path);

/** Scrubs messages, and counts the removed and rewritten values. */
export interface Scrubber extends RequestRewriter {
  readonly removedValues: number;
}

/** Returns the rules that remove and rewrite values in the telemetry of browsers. */
export const createScrubber = ({
  queryParameters,
  storesEmailAddresses,
  storesUserNames,
}: BrowserPrivacy): Scrubber => {
  const allowedNames = new Set(queryParameters);
  const scrubUrls = (text: string, path: string): string => {
    if (fragmentKeys.has(path)) return '';
    if (queryKeys.has(path)) return filterQuery(text.replace(/^\?/, ''), allowedNames);
    let scrubbed = removeCredentials(text);
    if (scrubbed.includes('?')) scrubbed = replaceQueries(scrubbed, (query) => filterQuery(query, allowedNames));
    if (scrubbed.includes('#') && (isUrlPath(path) || urlPattern.test(scrubbed))) scrubbed = removeFragments(scrubbed);
    return scrubbed;
  };
  let removedValues = 0;
  return {
    get removedValues() {
      return removedValues;
    },
    removes(path) {
      const isRemoved =
        clientAddressKeys.has(path) ||
        (!storesUserNames && userNameKeys.has(path)) ||
        (!storesEmailAddresses && emailKeys.has(path));
      if (isRemoved) removedValues++;
      return isRemoved;
    },
    rewrite(text, path) {
      const withoutUrls = scrubUrls(text, path);
      const scrubbed = storesEmailAddresses ? withoutUrls : replaceEmails(withoutUrls);
      if (scrubbed !== text) removedValues++;
      return scrubbed;
    },
  };
};
