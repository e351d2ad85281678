/** Values of JSON and XML responses. Each response is parsed once, however many assertions and extracted values read it. */
import { parseJsonDocument, parseJsonPath } from './json-path.ts';
import { parseXPath } from './x-path.ts';
import { XPathReader } from './x-path-reader.ts';
import { parseXml } from './xml.ts';

/** A response; its body does not change. */
interface Response {
  readonly body?: string;
}

/** Returns a function that parses the body of each response once; `undefined` without a body. */
const createParser = <T>(parse: (body: string) => T): ((response: Response) => T | undefined) => {
  const documents = new WeakMap<Response, { readonly document: T | undefined }>();
  return (response) => {
    const known = documents.get(response);
    if (known !== undefined) return known.document;
    const { body } = response;
    const document = body === undefined ? undefined : parse(body);
    documents.set(response, { document });
    return document;
  };
};

const getJsonDocument = createParser(parseJsonDocument);
const getXPathReader = createParser((body) => {
  const document = parseXml(body);
  return document && new XPathReader(document);
});

/** Returns the values of a JSONPath in document order; none if the response is not JSON. */
export const readJsonValues = (path: string, response: Response): readonly unknown[] => {
  const jsonPath = parseJsonPath(path);
  const document = getJsonDocument(response);
  if (typeof jsonPath === 'string' || document === undefined) return [];
  try {
    return jsonPath.findValues(document);
  } catch {
    // A document that is nested too deeply to search has no values.
    return [];
  }
};

/**
 * Returns the values of an XPath in document order, at most `maxValues`; none if the response is not XML. A text says why
 * they cannot be read.
 */
export const readXmlValues = (
  path: string,
  response: Response,
  maxValues?: number,
): readonly (string | number)[] | string => {
  const xPath = parseXPath(path);
  const reader = getXPathReader(response);
  return typeof xPath === 'string' || reader === undefined ? [] : reader.findValues(xPath, maxValues);
};
