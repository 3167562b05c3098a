internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics

/// How an attempt sends an upload that can be resumed.
extension Attempt {
    /// Makes the upload's machine, if the task's upload can be resumed.
    mutating func prepareUpload(_ task: URLSessionTask, _ spec: TaskSpec, _ engine: SessionEngine) {
        let settings = engine.settings
        guard let draft = spec.upload?.draft ?? settings.resumableUploads, task is URLSessionUploadTask,
            let content = UploadResumeData.Content(spec),
            request.values.httpMethod != "GET", request.values.httpMethod != "HEAD"
        else { return }
        upload = ResumableUpload(
            request,
            content,
            draft,
            length: content.length(request),
            resource: spec.upload?.resource,
            secrets: settings.secrets,
            isPatient: engine.background != nil
        )
    }

    /// Sets the next request to the given one, or to one that the upload needs.
    mutating func replaceUpload(by request: URLRequest) {
        guard let upload else {
            self.request = request
            return
        }
        let from = upload.creationURL
        if upload.machine.isCreating {
            upload.create(request, hasLeftOrigin: hasLeftOrigin)
            self.request = request
        } else {
            // The first request of a resumed task asks how far the earlier task has come.
            self.request = transaction == nil ? upload.nextRequest() : request
        }
        guard !upload.machine.isCreating, !hasLeftOrigin, let from, let to = self.request.url,
            WebOrigin(from) != WebOrigin(to)
        else { return }
        // Another server does not get the session's secrets.
        _ = machine.follow(to: WebURL(to), from: WebURL(from), bringsContent: true)
    }

    /// Returns the upload's next request; nil if there is no upload.
    mutating func nextUploadRequest() -> URLRequest? {
        guard let next = upload?.nextRequest() else { return nil }
        // An upload that begins anew has met neither redirects nor challenges yet.
        if upload?.machine.isCreating == true { machine = machine.anew(resuming: nil) }
        return next
    }

    /// Loads the content of the upload's next request. Nil if that request sends all of the content, as for other
    /// tasks.
    mutating func loadRest(_ source: ContentSource) throws(URLError) -> Loading? {
        guard let upload else { return nil }
        if upload.isAsking {
            content = .none
            return .ready
        }
        guard let offset = upload.rest else { return nil }
        if case .stream = source {
            content = .none
            return .asksForStream
        }
        content = try UploadContent(source, request).dropping(offset)
        return .ready
    }

    /// The offset, in bytes, at which the delegate's stream must begin; nil for the whole content.
    var streamOffset: Int64? { upload?.rest }

    /// Takes an informational response: a 104 names the resource at which the upload can be resumed.
    func noteResource(_ head: ResponseHead, _ url: URL, _ task: URLSessionTask, _ background: BackgroundSession?) {
        guard let upload, upload.inform(head.status, head.fields, to: url), let data = upload.resumeData else { return }
        background?.note(task, upload: data)
    }

    // MARK: The next step

    /// Returns the upload's step after an answer; nil if the answer is the task's.
    func uploadStep(after response: HTTPURLResponse) -> UploadStep? {
        guard let upload, !upload.machine.isOver else { return nil }
        let step = upload.receive(response)
        return step == .deliver ? nil : step
    }

    /// Returns the upload's step after a failure; nil if the upload cannot be resumed, or if the rules have a better
    /// step than to fail or to begin anew.
    func uploadStep(after error: EngineError, _ step: Step) -> UploadStep? {
        guard let upload, upload.machine.resource != nil else { return nil }
        switch step {
        case .fail(.failure), .beginAnew:
            let next = upload.fail(isTransient: error.isTransient)
            return next == .fail ? nil : next
        default: return nil
        }
    }

    // MARK: For later

    /// The resume data of the task, and their key in an error. Nil if it cannot be resumed.
    func resumeData(for sink: Sink, _ background: BackgroundSession?) -> (key: String, data: Data)? {
        guard let upload else {
            return resumeData(sink, background)?.data.map { (NSURLSessionDownloadTaskResumeData, $0) }
        }
        return upload.resumeData?.data.map { (NSURLSessionUploadTaskResumeData, $0) }
    }
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
