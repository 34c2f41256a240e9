/** What goes wrong with files and uploads, as problems. Their part of functions/http/errors.ts. */
import { DEFAULT_RETRY_AFTER_S } from '../../src/limits.ts';
import type { UploadStatus } from '../storage/uploads.ts';
import type { Wire } from './errors.ts';
import { MULTIPART_DEFECTS, type MultipartDefect } from './multipart.ts';

export type FileFailure =
  | { readonly reason: 'file_not_found' }
  | { readonly reason: 'file_too_large'; readonly limit_bytes: number }
  | { readonly reason: 'multipart_malformed'; readonly defect: MultipartDefect }
  | { readonly reason: 'range_not_satisfiable'; readonly bytes: number }
  | { readonly reason: 'upload_not_found' }
  | { readonly reason: 'upload_not_pending'; readonly status: UploadStatus }
  | { readonly reason: 'upload_parts_exceeded'; readonly limit: number }
  /** R2 or D1 failed. */
  | { readonly reason: 'storage_failed' };

export function wireOfFileFailure(failure: FileFailure): Wire {
  const { reason } = failure;
  switch (reason) {
    case 'file_not_found':
      return { reason, status: 404, title: 'File not found', detail: 'There is no file of that id.' };
    case 'file_too_large':
      return {
        reason,
        status: 413,
        title: 'File too large',
        detail: `The file may have at most ${failure.limit_bytes} bytes.`,
      };
    case 'multipart_malformed':
      return { reason, status: 400, title: 'Malformed form', detail: MULTIPART_DEFECTS[failure.defect] };
    case 'range_not_satisfiable':
      return {
        reason,
        status: 416,
        title: 'Range not satisfiable',
        detail: `The file has ${failure.bytes} bytes.`,
        headers: { 'content-range': `bytes */${failure.bytes}` },
      };
    case 'upload_not_found':
      return { reason, status: 404, title: 'Upload not found', detail: 'There is no upload of that id.' };
    case 'upload_not_pending':
      return {
        reason,
        status: 409,
        title: 'The upload has ended',
        detail: `The upload is ${failure.status}: it can no longer be changed.`,
      };
    case 'upload_parts_exceeded':
      return {
        reason,
        status: 413,
        title: 'Too many parts',
        detail: `An upload may have at most ${failure.limit} parts.`,
      };
    case 'storage_failed':
      return {
        reason,
        status: 503,
        title: 'Storage failed',
        detail: 'The storage of this deployment failed; try again.',
        retryable: true,
        headers: { 'retry-after': String(DEFAULT_RETRY_AFTER_S) },
      };
  }
}
