/**
 * `grpc.reflection`, v1 and v1alpha: allows grpcurl and others to discover the services without their `.proto` files.
 */

import { type Descriptors, getDescriptors } from './descriptors.ts';
import {
  beginMessages,
  createMessageReader,
  endMessages,
  frameMessage,
  respondWithError,
  statusCode,
} from './framing.ts';
import type { ServerStream, StreamHandler } from './grpc-server.ts';

const maxRequestBytes = 64 * 1024;

interface ReflectionRequest {
  readonly host?: string;
  readonly message_request?: string;
  readonly file_by_filename?: string;
  readonly file_containing_symbol?: string;
}

const createNotFoundResponse = (message: string) => ({
  error_response: { error_code: statusCode.notFound, error_message: message },
});

const createFilesResponse = (files: Uint8Array[] | undefined, message: string): object =>
  files === undefined
    ? createNotFoundResponse(message)
    : { file_descriptor_response: { file_descriptor_proto: files } };

const createResponse = (request: ReflectionRequest, { services, byFile, findBySymbol }: Descriptors): object => {
  switch (request.message_request) {
    case 'list_services':
      return { list_services_response: { service: services.map((name) => ({ name })) } };
    case 'file_by_filename':
      return createFilesResponse(byFile(request.file_by_filename ?? ''), 'the file does not exist');
    case 'file_containing_symbol':
      return createFilesResponse(findBySymbol(request.file_containing_symbol ?? ''), 'the symbol does not exist');
    default:
      return createNotFoundResponse('there are no extensions');
  }
};

/** Serves one reflection stream of the given version. */
export const reflect = (stream: ServerStream, version: 'v1' | 'v1alpha'): StreamHandler => {
  const known = getDescriptors();
  const requestType = known.lookupType(`grpc.reflection.${version}.ServerReflectionRequest`);
  const responseType = known.lookupType(`grpc.reflection.${version}.ServerReflectionResponse`);
  const handleRequest = (bytes: Buffer) => {
    let request: ReflectionRequest;
    try {
      request = requestType.toObject(requestType.decode(bytes), { oneofs: true }) as ReflectionRequest;
    } catch {
      return respondWithError(stream, statusCode.invalidArgument, 'the request cannot be read');
    }
    beginMessages(stream);
    const response = { valid_host: request.host ?? '', original_request: request, ...createResponse(request, known) };
    stream.write(frameMessage(responseType.encode(responseType.fromObject(response)).finish()));
  };
  const end = (): void => {
    beginMessages(stream);
    endMessages(stream);
  };
  return createMessageReader(stream, maxRequestBytes, handleRequest, { end });
};
