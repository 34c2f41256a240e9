/** Files, uploads and batches in the OpenAPI document. */
import {
  fileDeletedSchema,
  fileFormSchema,
  fileListSchema,
  fileSchema,
  uploadCompletionSchema,
  uploadPartFormSchema,
  uploadPartSchema,
  uploadRequestSchema,
  uploadSchema,
} from '../files.ts';

const FORM = 'multipart/form-data';

import { batchListSchema, batchRedriveSchema, batchRequestSchema, batchSchema } from '../batches/batch.ts';
import type { Section } from './route.ts';

const PROBLEMS = [401, 403, 500, 503] as const;

export const BATCHES = {
  tag: { name: 'batches', description: 'Files and batch jobs.' },
  routes: {
    'POST /v1/files': {
      summary: 'Stores a file of batch requests.',
      request: 'FileForm',
      requestMedia: FORM,
      replies: { 200: { description: 'The file.', schema: 'File' } },
      problems: [400, 413, 415, 422, ...PROBLEMS],
    },
    'GET /v1/files': {
      summary: 'Lists files, newest first.',
      replies: { 200: { description: 'One page.', schema: 'FileList' } },
      problems: [422, ...PROBLEMS],
    },
    'GET /v1/files/{id}': {
      summary: "Returns a file's metadata.",
      replies: { 200: { description: 'The file.', schema: 'File' } },
      problems: [404, ...PROBLEMS],
    },
    'DELETE /v1/files/{id}': {
      summary: 'Deletes a file.',
      replies: { 200: { description: 'The file is deleted.', schema: 'FileDeleted' } },
      problems: [404, ...PROBLEMS],
    },
    'GET /v1/files/{id}/content': {
      summary: 'Returns the bytes of a file, or one range of them (header range).',
      replies: {
        200: { description: 'The whole file.', schema: null, media: 'application/octet-stream' },
        206: { description: 'The range.', schema: null, media: 'application/octet-stream' },
      },
      problems: [404, 416, ...PROBLEMS],
    },
    'POST /v1/uploads': {
      summary: 'Starts a multipart upload.',
      request: 'UploadRequest',
      replies: { 200: { description: 'The upload.', schema: 'Upload' } },
      problems: [400, 413, 415, 422, ...PROBLEMS],
    },
    'POST /v1/uploads/{id}/parts': {
      summary: 'Adds a part. Parts can come in any order and in parallel.',
      request: 'UploadPartForm',
      requestMedia: FORM,
      replies: { 200: { description: 'The part.', schema: 'UploadPart' } },
      problems: [400, 404, 409, 413, 415, 422, ...PROBLEMS],
    },
    'POST /v1/uploads/{id}/complete': {
      summary: 'Assembles the file from its parts. Idempotent.',
      request: 'UploadCompletion',
      replies: { 200: { description: 'The upload with its file.', schema: 'Upload' } },
      problems: [400, 404, 409, 413, 415, 422, ...PROBLEMS],
    },
    'POST /v1/uploads/{id}/cancel': {
      summary: 'Cancels an upload and deletes its parts.',
      replies: { 200: { description: 'The upload.', schema: 'Upload' } },
      problems: [404, 409, ...PROBLEMS],
    },
    'POST /v1/batches': {
      summary: 'Starts a batch over an uploaded file.',
      moreScopes: 'and the scopes of the endpoint',
      request: 'BatchRequest',
      replies: { 200: { description: 'The batch.', schema: 'Batch' } },
      problems: [400, 404, 413, 415, 422, ...PROBLEMS],
    },
    'GET /v1/batches': {
      summary: 'Lists batches, newest first.',
      replies: { 200: { description: 'One page.', schema: 'BatchList' } },
      problems: [422, ...PROBLEMS],
    },
    'GET /v1/batches/{id}': {
      summary: 'Returns a batch with its progress.',
      replies: { 200: { description: 'The batch.', schema: 'Batch' } },
      problems: [404, 422, ...PROBLEMS],
    },
    'POST /v1/batches/{id}/cancel': {
      summary: 'Cancels a batch; finished results stay.',
      replies: { 200: { description: 'The batch.', schema: 'Batch' } },
      problems: [404, 409, 422, ...PROBLEMS],
    },
    'POST /v1/batches/{id}/redrive': {
      summary: 'Retries the dead letters of a batch.',
      replies: { 200: { description: 'The batch.', schema: 'BatchRedrive' } },
      problems: [404, 422, ...PROBLEMS],
    },
  },
  requests: {
    FileForm: fileFormSchema,
    UploadRequest: uploadRequestSchema,
    UploadPartForm: uploadPartFormSchema,
    UploadCompletion: uploadCompletionSchema,
    BatchRequest: batchRequestSchema,
  },
  replies: {
    File: fileSchema,
    FileList: fileListSchema,
    FileDeleted: fileDeletedSchema,
    Upload: uploadSchema,
    UploadPart: uploadPartSchema,
    Batch: batchSchema,
    BatchList: batchListSchema,
    BatchRedrive: batchRedriveSchema,
  },
} satisfies Section;
