internal import Foundation
internal import UncurlClient
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics

/// How a task keeps content on disk, and resumes a download.
extension TaskLoader {
    /// Returns the offer of the attempt that follows one that the network has failed: it keeps the content that has
    /// come, if the server can be asked for the rest.
    ///
    /// - Parameter file: the content that has come in this attempt.
    final func offerAnew(_ file: DownloadFile?) -> ResumeOffer? {
        if let file {
            let data = resumeData(file, at: file.url.path)
            if data != nil { file.keep() }
            file.finish(keeping: false)
            resumption = data?.askable
        }
        return resumption?.offer
    }

    /// Looks whether the part of an earlier download is what was written, and then runs `next`. If it cannot be read
    /// now, the task fails, and the part stays.
    final func verify(_ part: ResumeData, _ next: @escaping () -> Void) {
        load.offLoop {
            Result { () throws(Errno) in try part.verified() }
        } _: { [self] result in
            switch result {
            case .success(let read):
                resume(from: read)
                next()
            case .failure(let error):
                awaitDescriptor(after: ResumeData.unreadable(error, request.url)) { [self] in verify(part, next) }
            case nil: end(.cannotOpenFile, request.url, "no thread can read the file of the download to resume")
            }
        }
    }

    /// Makes the file for the answer to `task`, which is a download task. In a background session the file is in the
    /// session's folder, and the record names it before the process can end.
    final func makeFile(for task: URLSessionTask) throws(URLError) -> DownloadFile {
        if let resumed { return resumed }
        let path = background?.freshPart(of: task)
        let file = try DownloadFile(for: spec.request == nil ? nil : request.url, at: path)
        file.total = response?.expectedContentLength ?? -1
        guard let background, let path else { return file }
        file.beginLedger(at: engine.loop.now)
        let part = BackgroundRecord.Part(
            path: path,
            validator: validator,
            expected: file.total,
            boot: BackgroundFolder.boot
        )
        background.note(task, response as? HTTPURLResponse, part: part)
        return file
    }

    /// Continues the download on disk, or removes its file if `read` is nil: then the file does not hold what was
    /// written.
    final func resume(from read: ResumeData?) {
        if read == nil { removePart() }
        resumption = read
        load.resume(from: read?.offer)
    }

    /// Removes the file that an earlier attempt has left and that is of no use. One that another task continues from
    /// the same resume data stays.
    final func removePart() {
        if let path = resumption?.path { WritableFile.removeUnlessContinued(path) }
    }

    final func continuePart(of total: Int64, _ again: @escaping () -> Void) -> Bool? {
        guard let resumption else { return true }
        do throws(Errno) {
            let file = try DownloadFile(resumption, total: total, for: request.url)
            if background != nil { file.beginLedger(at: engine.loop.now) }
            resumed = file
            return true
        } catch {
            guard !error.isOfPart else { return false }
            // The part stays, for a later download.
            awaitDescriptor(after: ResumeData.unreadable(error, request.url), again)
            return nil
        }
    }

    final func replacePart(_ response: LocatedHead) {
        // A refusal, such as a 503, says nothing about the content. The records of a background session have no place
        // for both files.
        if (200..<300).contains(response.status) || background != nil { removePart() }
    }

    /// The strong validator of the content that is coming in; nil if it has none, or if the download cannot be resumed:
    /// what is missing of a range that the caller has asked for cannot be asked for by its offset in the file.
    private var validator: String? {
        // The rest of a download need not repeat the validator with which it was asked for (RFC 9110 §15.3.7).
        if resumed != nil { return resumption?.validator }
        guard request.values.fields?.contains(.range) != true else { return nil }
        guard let response = response as? HTTPURLResponse, request.httpMethod == "GET" else { return nil }
        return response.rangeValidator
    }

    /// Keeps the file beyond the task, and returns its resume data. Nil if nothing of the content is on disk, or if the
    /// content has no validator.
    private var downloadData: ResumeData? {
        guard case .file(let file) = delivery.sink, file.written > 0, validator != nil else { return unusedResumption }
        file.keep()
        // The file leaves the session's folder, since the session's record of the task will be removed.
        let path = background?.folder?.keep(file.url.path) ?? file.url.path
        return resumeData(file, at: path)
    }

    /// The part of an earlier download that this one has neither continued nor removed.
    private var unusedResumption: ResumeData? {
        guard var unused = resumption, resumed == nil, FileManager.default.fileExists(atPath: unused.path) else {
            return nil
        }
        unused.path = background?.folder?.keep(unused.path) ?? unused.path
        return unused
    }

    /// Returns the failure with the task's resume data. A cancel that asks for resume data has already added them.
    final func withResumeData(_ failure: any Error) -> any Error {
        guard let error = failure as? URLError, error.code != .cancelled, let (key, data) = resumeData else {
            return failure
        }
        return error.with(data, for: key)
    }

    /// Returns the resume data of what this download has received.
    ///
    /// - Parameter path: where the file will be.
    private func resumeData(_ file: DownloadFile, at path: String) -> ResumeData? {
        guard file.written > 0, let validator else { return nil }
        var request = request
        if load.hasLeftOrigin { request.values.hasLeftOrigin = true }
        return ResumeData(
            request: request,
            validator: validator,
            path: path,
            received: file.written,
            expected: file.total,
            sum: file.sum.map { .known($0) } ?? .none
        )
    }

    /// The resume data of the task, and their key in an error. Nil if it cannot be resumed.
    final var resumeData: (key: String, data: Data)? {
        guard load.upload != nil else { return downloadData?.data.map { (NSURLSessionDownloadTaskResumeData, $0) } }
        return uploadData?.data.map { (NSURLSessionUploadTaskResumeData, $0) }
    }
}

extension ResumeData {
    var offer: ResumeOffer { ResumeOffer(validator: validator, received: received, expected: expected) }
}

/// How a task sends an upload that can be resumed.
extension TaskLoader {
    /// Makes the upload, if the task's can be resumed.
    final func makeUpload() -> ResumableUpload? {
        guard let draft = spec.upload?.draft ?? settings.resumableUploads, task is URLSessionUploadTask,
            let content = UploadResumeData.Content(spec),
            request.values.httpMethod != "GET", request.values.httpMethod != "HEAD"
        else { return nil }
        var file: SentFile?
        if case .file(let path, let state) = content { file = SentFile(path, state) }
        return ResumableUpload(
            sendable(request),
            draft,
            length: content.length(request),
            file: file,
            resource: spec.upload?.resource.absoluteString,
            secrets: settings.client.secrets,
            isPatient: background != nil
        )
    }

    /// The data from which another task can resume; nil if the upload is over, or its server has named no resource for
    /// it.
    final var uploadData: UploadResumeData? {
        guard let upload = load.upload, let resource = upload.machine.resource.flatMap({ URL(string: $0.text) }),
            var first = creation, var content = UploadResumeData.Content(spec)
        else { return nil }
        if upload.creation.hasLeftOrigin { first.values.hasLeftOrigin = true }
        if case .file(let path, _) = content { content = .file(path, (upload.file as? SentFile)?.state) }
        return UploadResumeData(request: first, resource: resource, draft: upload.machine.draft, content: content)
    }
}

/// A file that is uploaded, with its state when it was first sent.
private final class SentFile: UploadedFile {
    private let path: String
    private(set) var state: StoreFile?

    init(_ path: String, _ state: StoreFile?) { (self.path, self.state) = (path, state) }

    func note() -> Int64? {
        state = StoreFile.state(path)
        return state?.size
    }

    var hasChanged: Bool { StoreFile.state(path) != state }
}

extension UploadResumeData.Content {
    /// Nil for content of which no part can be sent: a request's own content may be a form.
    fileprivate init?(_ spec: TaskSpec) {
        if let upload = spec.upload {
            self = upload.content
            return
        }
        switch spec.content {
        case .data(let data): self = .data(data)
        case .file(let url) where url.isFileURL: self = .file(url.path, nil)
        case .stream: self = .stream
        case .request, .file, .content: return nil
        }
    }

    /// In octets; -1 where it is not known.
    fileprivate func length(_ request: URLRequest) -> Int64 {
        switch self {
        case .data(let data): Int64(data.count)
        case .file(let path, _): StoreFile.state(path)?.size ?? -1
        case .stream: request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) } ?? -1
        }
    }
}
