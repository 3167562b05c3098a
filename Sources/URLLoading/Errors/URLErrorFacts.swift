public import Foundation

/// The key in an error's `userInfo` of the data that a failed upload can be resumed from.
public let NSURLSessionUploadTaskResumeData: String = "NSURLSessionUploadTaskResumeData"

// The facts in an error's `userInfo`, under Apple's keys.
extension URLError {
    /// Why the system has cancelled a background task.
    @frozen public enum BackgroundTaskCancelledReason: Int, Hashable, Sendable {
        /// The user has forced the program to quit.
        case userForceQuitApplication = 0
        /// The user has disabled background work.
        case backgroundUpdatesDisabled = 1
        /// The system ran out of memory, disk or power.
        case insufficientSystemResources = 2
    }

    /// Which property of a network kept a task from using it.
    @frozen public enum NetworkUnavailableReason: Int, Hashable, Sendable {
        /// The only network was a cellular one.
        case cellular = 0
        /// The only network was an expensive one.
        case expensive = 1
        /// The only network was in low data mode.
        case constrained = 2
    }

    /// From where a download that has failed or was cancelled can go on (``URLSession/downloadTask(withResumeData:)``);
    /// nil where it has to begin anew.
    public var downloadTaskResumeData: Data? { userInfo[NSURLSessionDownloadTaskResumeData] as? Data }

    /// The same of an upload (``URLSession/uploadTask(withResumeData:)``); nil where its server has not said that the
    /// upload can be gone on with.
    public var uploadTaskResumeData: Data? { userInfo[NSURLSessionUploadTaskResumeData] as? Data }

    /// Linux cancels no background tasks: nil in errors of this module; for those that a program makes itself.
    public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
        number("NSURLErrorBackgroundTaskCancelledReasonKey").flatMap { BackgroundTaskCancelledReason(rawValue: $0) }
    }

    /// Linux does not say which networks are cellular, expensive or constrained: nil in errors of this module; for
    /// those that a program makes itself.
    public var networkUnavailableReason: NetworkUnavailableReason? {
        number("NSURLErrorNetworkUnavailableReasonKey").flatMap { NetworkUnavailableReason(rawValue: $0) }
    }

    private func number(_ key: String) -> Int? { (userInfo[key] as? Int) ?? (userInfo[key] as? NSNumber)?.intValue }
}
