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

    /// The data from which a failed or cancelled download can resume (``URLSession/downloadTask(withResumeData:)``);
    /// nil if it must start over.
    public var downloadTaskResumeData: Data? { userInfo[NSURLSessionDownloadTaskResumeData] as? Data }

    /// The data from which a failed or cancelled upload can resume (``URLSession/uploadTask(withResumeData:)``); nil if
    /// its server has not said that the upload can be resumed.
    public var uploadTaskResumeData: Data? { userInfo[NSURLSessionUploadTaskResumeData] as? Data }

    /// Nil in errors of this module, since Linux cancels no background tasks. Errors that a program makes may have it.
    public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
        number("NSURLErrorBackgroundTaskCancelledReasonKey").flatMap { BackgroundTaskCancelledReason(rawValue: $0) }
    }

    /// Nil in errors of this module, since Linux does not say which networks are cellular, expensive or constrained.
    /// Errors that a program makes may have it.
    public var networkUnavailableReason: NetworkUnavailableReason? {
        number("NSURLErrorNetworkUnavailableReasonKey").flatMap { NetworkUnavailableReason(rawValue: $0) }
    }

    private func number(_ key: String) -> Int? { (userInfo[key] as? Int) ?? (userInfo[key] as? NSNumber)?.intValue }
}

extension URLError {
    /// Returns the error with the data from which a later download or upload can resume.
    func with(_ resumeData: Data, for key: String) -> URLError {
        var info = userInfo
        info[key] = resumeData
        return URLError(code, userInfo: info)
    }
}
