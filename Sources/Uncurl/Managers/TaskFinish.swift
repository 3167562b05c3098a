internal import Dispatch
internal import URLLoading

/// Leads from a task's end to its completion handler:
///
/// loop or delegate queue → (a download is validated, and its file is moved on the delegate queue) → serialization,
/// several at once → completion queue: the handler, then the notification, then the operations that waited for the end.
/// The hook for the end runs on the delegate queue, in parallel.
struct TaskFinish: Sendable {
    let core: ManagerCore
    let delegate: TaskDelegate
    let session: URLSession
    let settings: ManagerCore.Snapshot
    let serializer: any ResponseSerializer
    let watchers: Watchers
    let destination: DownloadDestination?
    let completion: @Sendable (ResponseFacts) -> Void

    private var validation: ResponseValidation {
        RequestOptions().validation(else: serializer.validation, settings.redirects)
    }

    func run(_ outcome: TaskOutcome) {
        let group = settings.values.completionGroup ?? ManagerCore.sharedGroup
        group.enter()
        session.tellEnd(of: outcome.task, outcome.error, core, delegate)
        watchers.tell(.completedTask(outcome.task, outcome.error))
        if let metrics = outcome.metrics { watchers.tell(.collectedMetrics(metrics)) }
        guard let file = outcome.file, let task = outcome.task as? URLSessionDownloadTask else {
            return make(outcome, nil, group)
        }
        let move = DownloadMove(
            core: core,
            session: session,
            task: task,
            own: delegate.hooks.didFinishDownloading,
            destination: (delegate as? DownloadTaskDelegate)?.destination ?? destination
        )
        ManagerCore.processing.async {
            if let refusal = move.refusal(file, outcome, by: validation) {
                return make(outcome, .refused(refusal), group)
            }
            session.delegateQueue.addLasting { make(outcome, move.run(file, outcome), group) }
        }
    }

    private func make(_ outcome: TaskOutcome, _ download: DownloadedFile?, _ group: DispatchGroup) {
        outcome.hold?.end()
        ManagerCore.processing.async {
            let response = outcome.response(
                by: serializer,
                validation: validation,
                reason: delegate.reason(for: outcome.error, of: outcome.task),
                download: download
            )
            delegate.note(response)
            watchers.tellDetails(of: download, response.error)
            watchers.tell(.serialized(statusCode: response.statusCode, response.error))
            watchers.tell(.finished(statusCode: response.statusCode, response.error, retryCount: 0))
            (settings.completionQueue ?? core.ownQueue).async {
                completion(response)
                core.postCompletion(outcome.task, response, serializer)
                delegate.open()
                outcome.settle?(download?.isStranded != true)
                group.leave()
            }
        }
    }
}

extension URLSession {
    /// Calls the hooks for a task's end on the delegate queue, if there are any.
    func tellEnd(of task: URLSessionTask, _ error: URLError?, _ core: ManagerCore, _ delegate: TaskDelegate) {
        guard core.settings.didComplete != nil || delegate.didComplete != nil else { return }
        let reason = error?.ofClass ?? error
        delegateQueue.addLasting {
            core.settings.didComplete?(self, task, reason)
            delegate.didComplete?(self, task, reason)
        }
    }
}

extension Watchers {
    /// Reports a download's move and the result of the validation, for a task that had an answer.
    func tellDetails(of download: DownloadedFile?, _ error: UncurlError?) {
        guard hearsDetails else { return }
        switch download {
        case .placed(let place)?, .left(let place)?: tellDetail(.movedFile(place))
        case .stranded(let failure)?: tellDetail(.failedToMoveFile(failure))
        case .refused?, nil: break
        }
        switch error {
        case .validation?: tellDetail(.validated(error))
        case nil, .serialization?: tellDetail(.validated(nil))
        default: break
        }
    }
}
