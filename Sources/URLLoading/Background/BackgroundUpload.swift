internal import Foundation

/// The record of a resumable upload, and how a task continues from it.
extension BackgroundRecord.Upload {
    /// Nil for content that does not outlive its process.
    init?(_ upload: UploadResumeData) {
        guard case .file(_, let state) = upload.content else { return nil }
        self.init(resource: upload.resource, draft: upload.draft, file: state)
    }
}

extension BackgroundRecord {
    /// Nil for an upload that starts over.
    var uploadResumeData: UploadResumeData? {
        guard let upload, let source else { return nil }
        return UploadResumeData(
            request: request,
            resource: upload.resource,
            draft: upload.draft,
            content: .file(source, upload.file)
        )
    }
}
