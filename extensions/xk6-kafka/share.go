package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Share groups (KIP-932): members compete for messages, also of one partition, and acknowledge each of them.

// byMessage is the group protocol of share groups.
const byMessage = "share"

func (s *session) competes() bool { return s.own.GroupProtocol == byMessage }

func (s *session) competing(to *settings, group string) {
	to.Set("groupProtocol", byMessage, kgo.ShareGroup(group))
	to.Set("sessionTimeout", "the broker's")
	to.Set("heartbeatInterval", "the broker's")
	to.Set("acknowledgements that fail", "reported; the message comes again", kgo.ShareAckCallback(func(_ *kgo.Client, results kgo.ShareAckResults) {
		// Others fail because the session or the connection ended, which is reported by itself.
		if err := results.Error(); errors.Is(err, kerr.InvalidRecordState) {
			s.Report("acknowledge", err)
		}
	}))
	most := s.own.Prefetch
	if most == 0 {
		most = pollRecords
		to.Set("acquireMode", "whole batches", kgo.ShareMaxRecords(int32(most)))
	} else {
		// Subtle: the strict mode would fetch from one broker at a time, unless the library may fetch from several.
		to.Set("acquireMode", "messages", kgo.ShareMaxRecords(int32(most)), kgo.ShareMaxRecordsStrict(), kgo.MaxConcurrentFetches(maxBrokers))
	}
	to.Set("pollRecords", most)
}

// setGroups sets the options of the run's share groups, which are on the broker, or removes them.
func (s *session) setGroups(ctx context.Context, operation kmsg.IncrementalAlterConfigOp) error {
	if !s.competes() || s.Client > 0 || len(s.groups()) == 0 {
		return nil
	}
	options := map[string]string{"share.auto.offset.reset": "earliest", "share.isolation.level": strings.ReplaceAll(s.isolation(), " ", "_")}
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	for _, group := range slices.Sorted(maps.Keys(s.groups())) {
		of := kmsg.NewIncrementalAlterConfigsRequestResource()
		of.ResourceType, of.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
		for name, value := range options {
			config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
			config.Name, config.Op, config.Value = name, operation, &value
			of.Configs = append(of.Configs, config)
		}
		request.Resources = append(request.Resources, of)
	}
	response, err := request.RequestWith(ctx, s.asks)
	if err != nil {
		return fmt.Errorf("kafka: set options of share groups: %w", err)
	}
	for _, of := range response.Resources {
		if err := kerr.ErrorForCode(of.ErrorCode); err != nil {
			return fmt.Errorf("kafka: set options of share group %q: %w", of.ResourceName, err)
		}
	}
	return nil
}

// ownedByMessage is how many partitions each member of a share group has; nil if the group is about to change.
func (s *session) ownedByMessage(ctx context.Context, name string) map[string]int {
	described, err := s.admin.DescribeShareGroups(ctx, name)
	group := described[name]
	if err != nil || group.Err != nil || group.GroupState != "Stable" || group.AssignmentEpoch != group.GroupEpoch {
		return nil
	}
	owned := map[string]int{}
	for _, m := range group.Members {
		if m.MemberEpoch != group.GroupEpoch {
			return nil
		}
		for _, partitions := range m.Assignment {
			owned[m.MemberID] += len(partitions)
		}
	}
	return owned
}
